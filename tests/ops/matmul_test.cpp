// matmul: shared and batched right sides, each with each transposition; every pair of odd extents.
#include <iterator>
#include <utility>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  return {matrixProduct(call.in(0), call.in(1), call.flag("transpose_a"), call.flag("transpose_b"))};
}

static Shape swapped(Shape shape, bool swap) {
  if (swap)
    std::swap(shape[shape.rank() - 1], shape[shape.rank() - 2]);
  return shape;
}

static void add(std::vector<OpCase> &cases, const Shape &batch, bool shared, int64_t m, int64_t k, int64_t n,
                bool transposeA, bool transposeB) {
  Shape a = batch, b = shared ? Shape{} : batch;
  a.append(m).append(k);
  b.append(k).append(n);
  const Matmul op{.transpose_a = transposeA, .transpose_b = transposeB};
  cases.push_back({.name = shapeName(a) + (transposeA ? " transposed" : "") + " times " + shapeName(b) +
                           (transposeB ? " transposed" : ""),
                   .operands = {{.shape = swapped(a, transposeA)}, {.shape = swapped(b, transposeB)}},
                   .build = [=](auto &in) { return matmul(in[0], in[1], op); }});
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  // Each pair of extents with the third odd, the transpositions in turn.
  int turn = 0;
  for (int64_t x : oddSizes)
    for (int64_t y : oddSizes) {
      const int64_t z = oddSizes[static_cast<size_t>(turn) % std::size(oddSizes)];
      const bool transposeA = turn & 1, transposeB = turn & 2;
      switch (turn++ % 3) {
      case 0:
        add(cases, {}, true, x, y, z, transposeA, transposeB);
        break;
      case 1:
        add(cases, {}, true, z, x, y, transposeA, transposeB);
        break;
      default:
        add(cases, {}, true, x, z, y, transposeA, transposeB);
        break;
      }
    }
  for (bool transposeA : {false, true})
    for (bool transposeB : {false, true}) {
      add(cases, {2, 3}, false, 17, 5, 33, transposeA, transposeB);
      add(cases, {3}, false, 7, 65, 13, transposeA, transposeB);
    }
  // So deep that parts of the depth are summed: eight of them, five.
  add(cases, {}, true, 7, 8192, 3, true, false);
  add(cases, {}, true, 3, 8195, 7, false, true);
  for (bool transposeB : {false, true}) {
    add(cases, {2, 3}, true, 7, 13, 31, false, transposeB);
    add(cases, {5}, true, 1, 33, 17, false, transposeB);
  }
  return cases;
}

static const OpTest test("matmul", reference, cases);

} // namespace burin::test
