// dropout_keys: odd hashes by their formula, and zeros where the key is 0.
#include "tests/ops/dropout.h"

namespace burin::test {

// rows [batch, 1, 1], positions [length, 1]
static Results reference(const Call &call) {
  const Values &rows = call.in(0), &positions = call.in(1);
  const int64_t width = call.integer("width");
  const uint32_t key = bitsOf(call.in(2)[0]);
  Values y({rows.size(), positions.size(), width});
  for (int64_t row = 0; row < rows.size(); ++row)
    for (int64_t position = 0; position < positions.size(); ++position)
      for (int64_t column = 0; column < width && key != 0; ++column) {
        const uint32_t hash = placeHash(key, call.integer("id"), rows[row], positions[position], double(column));
        y[(row * positions.size() + position) * width + column] = static_cast<int32_t>(hash | 1);
      }
  return {y};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  const auto add = [&](int64_t batch, int64_t length, const DropoutKeys &op, double key) {
    cases.push_back({.name = std::to_string(batch) + "x" + std::to_string(length) + "x" + std::to_string(op.width) +
                             ", key " + std::to_string(static_cast<int64_t>(key)),
                     .operands = {{.shape = {batch, 1, 1}, .dtype = Dtype::i32, .lower = 0, .upper = 100},
                                  {.shape = {length, 1}, .dtype = Dtype::i32, .lower = 0, .upper = 1000},
                                  {.shape = {}, .dtype = Dtype::i32, .values = {key}}},
                     .build = [=](auto &in) { return dropout_keys(in[0], in[1], in[2], op); },
                     .differentiable = false});
  };
  for (int64_t n : oddSizes)
    add(2, n, {.width = 3, .id = 5}, 12345);
  add(3, 5, {.width = 17, .id = 0x7fffffff}, -7);
  add(2, 3, {.width = 7, .id = 1}, 0);
  return cases;
}

static const OpTest test("dropout_keys", reference, cases);

} // namespace burin::test
