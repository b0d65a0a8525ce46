// rope: adjacent and split pairs, positions of one row and of each, late positions.
#include <cmath>

#include "tests/ops/elementwise.h"

namespace burin::test {

// x is (batch, length, d) or (batch, heads, length, d).
static Results reference(const Call &call) {
  const Values &x = call.in(0), &positions = call.in(1);
  Values y = x;
  const int64_t d = x.width(), length = x.shape[x.shape.size() - 2], batch = x.shape[0], rows = x.rows();
  const bool split = call.flag("half_split");
  const double turn = call.flag("inverse") ? -1 : 1;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t t = row % length, sequence = row / (rows / batch);
    const double position = positions[positions.rank() == 2 ? sequence * length + t : t];
    for (int64_t i = 0; i < d / 2; ++i) {
      const double angle =
          turn * position * std::pow(call.real("theta"), -2.0 * static_cast<double>(i) / static_cast<double>(d));
      const int64_t first = row * d + (split ? i : 2 * i), second = split ? first + d / 2 : first + 1;
      y[first] = x[first] * std::cos(angle) - x[second] * std::sin(angle);
      y[second] = x[first] * std::sin(angle) + x[second] * std::cos(angle);
    }
  }
  return {y};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  auto add = [&](const Shape &x, const Shape &positions, double latest, const Rope &op) {
    cases.push_back({.name = shapeName(x) + " at " + shapeName(positions) + " up to " +
                             std::to_string(static_cast<int64_t>(latest)) + (op.half_split ? " split" : ""),
                     .operands = {drawn(x, {}), drawn(positions, {.lower = 0, .upper = latest, .dtype = Dtype::i32})},
                     .build = [op](auto &in) { return rope(in[0], in[1], op); }});
  };
  for (bool split : {false, true}) {
    for (int64_t d : {2, 6, 10, 14, 26, 32, 34, 62, 66, 130})
      add({2, 3, 5, d}, {5}, 100, {.half_split = split});
    for (int64_t length : oddSizes)
      add({2, length, 6}, {length}, 100, {.half_split = split});
    add({3, 2, 7, 16}, {3, 7}, 100, {.half_split = split});
    add({3, 7, 18}, {3, 7}, 100, {.theta = 500000, .half_split = split});
    // The angle of a late position needs more digits than a float has.
    add({1, 5, 16}, {5}, 1e6, {.half_split = split});
  }
  return cases;
}

static const OpTest test("rope", reference, cases);

} // namespace burin::test
