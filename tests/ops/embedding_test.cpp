// embedding: rows of a table, some read twice and some never.
#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  const Values &table = call.in(0), &ids = call.in(1);
  std::vector<int64_t> shape = ids.shape;
  shape.push_back(table.width());
  Values y(shape);
  for (int64_t i = 0; i < ids.size(); ++i)
    for (int64_t c = 0; c < table.width(); ++c)
      y[i * table.width() + c] = table[static_cast<int64_t>(ids[i]) * table.width() + c];
  return {y};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  auto add = [&](int64_t rows, int64_t width, const Shape &ids) {
    cases.push_back({.name = shapeName({rows, width}) + " by " + shapeName(ids),
                     .operands = {drawn({rows, width}, {}),
                                  drawn(ids, {.lower = 0, .upper = static_cast<double>(rows), .dtype = Dtype::i32})},
                     .build = [](auto &in) { return embedding(in[0], in[1]); }});
  };
  for (int64_t n : oddSizes) {
    add(7, n, {2, 5});
    add(n, 3, {13});
    add(5, 17, {n});
  }
  return cases;
}

static const OpTest test("embedding", reference, cases);

} // namespace burin::test
