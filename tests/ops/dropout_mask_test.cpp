// dropout_mask: the hash by its formula, the share that is put out, and the key that turns it off.
#include "tests/ops/dropout.h"

namespace burin::test {

// rows [batch, 1, 1], positions [length, 1]; or each of them alone.
static Results reference(const Call &call) {
  const Values &rows = call.in(0), &positions = call.in(1);
  const int64_t width = call.integer("width");
  const double rate = call.real("rate");
  const uint32_t key = bitsOf(call.in(2)[0]);
  Values y({rows.size(), positions.size(), width});
  for (int64_t row = 0; row < rows.size(); ++row)
    for (int64_t position = 0; position < positions.size(); ++position)
      for (int64_t column = 0; column < width; ++column)
        y[(row * positions.size() + position) * width + column] = dropoutFactor(
            key, placeHash(key, call.integer("id"), rows[row], positions[position], double(column)), rate);
  return {y};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  const auto add = [&](int64_t batch, int64_t length, const DropoutMask &op, double key) {
    cases.push_back({.name = std::to_string(batch) + "x" + std::to_string(length) + "x" + std::to_string(op.width) +
                             ", key " + std::to_string(static_cast<int64_t>(key)),
                     .operands = {{.shape = {batch, 1, 1}, .dtype = Dtype::i32, .lower = 0, .upper = 100},
                                  {.shape = {length, 1}, .dtype = Dtype::i32, .lower = 0, .upper = 1000},
                                  {.shape = {}, .dtype = Dtype::i32, .values = {key}}},
                     .build = [=](auto &in) { return dropout_mask(in[0], in[1], in[2], op); },
                     .differentiable = false});
  };
  for (int64_t n : oddSizes)
    add(2, 3, {.width = n, .rate = 0.1, .id = 5}, 12345);
  for (int64_t n : oddSizes)
    add(n, 5, {.width = 7, .rate = 0.5, .id = 0x7fffffff}, -7);
  add(2, 3, {.width = 17, .rate = 0.2, .id = 1}, 0);
  add(2, 3, {.width = 17, .rate = 0, .id = 1}, 1);
  // As a model uses it: with a gradient through what is multiplied.
  for (int64_t n : oddSizes)
    cases.push_back({.name = "of a product, " + std::to_string(n) + " columns",
                     .operands = {{.shape = {2, 5, 3}},
                                  {.shape = {n, 3}},
                                  {.shape = {2}, .dtype = Dtype::i32, .lower = 0, .upper = 9},
                                  {.shape = {5}, .dtype = Dtype::i32, .lower = 0, .upper = 9},
                                  {.shape = {}, .dtype = Dtype::i32, .values = {3}}},
                     .build = [](auto &in) {
                       const Tensor x = matmul(in[0], in[1], {.transpose_b = true});
                       return nn::dropout(x, {0.3, in[2], in[3], in[4]}, "layer");
                     }});
  return cases;
}

static const OpTest test("dropout_mask", reference, cases);

} // namespace burin::test
