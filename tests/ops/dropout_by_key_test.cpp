// dropout_by_key: the factors by their formula, and ones where a key is 0. Together with dropout_keys and in the midst
// of an attention it is what nn::attention_dropout applies.
#include "tests/ops/dropout.h"

namespace burin::test {

static Results reference(const Call &call) {
  const double rate = call.real("rate");
  return {elementwise(call.in(0), call.in(1), [&](double key, double column) {
    return dropoutFactor(bitsOf(key), mixed(bitsOf(key) + bitsOf(column)), rate);
  })};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  const auto add = [&](const std::string &name, OpOperand keys, const Shape &columns, double rate) {
    cases.push_back({.name = name,
                     .operands = {std::move(keys), drawn(columns, {.lower = 0, .upper = 1000, .dtype = Dtype::i32})},
                     .build = [=](auto &in) { return dropout_by_key(in[0], in[1], {.rate = rate}); },
                     .differentiable = false});
  };
  for (int64_t n : oddSizes)
    add("3x" + std::to_string(n), drawn({2, 3, 1}, {.lower = -1e9, .upper = 1e9, .dtype = Dtype::i32}), {1, n}, 0.3);
  add("one key off", {.shape = {3, 1}, .dtype = Dtype::i32, .values = {9, 0, -5}}, {33}, 0.9);
  add("rate 0", {.shape = {3, 1}, .dtype = Dtype::i32, .values = {9, 0, -5}}, {33}, 0);
  // As nn::attention does it, fused and with a gradient: heads on their own, and in groups that share their keys.
  for (int64_t groups : {4, 2})
    for (int64_t n : {2, 7, 33})
      cases.push_back(
          {.name = "of attention, " + std::to_string(groups) + " heads of keys, " + std::to_string(n) + " tokens",
           .operands = {{.shape = {2, groups, 4 / groups * n, 5}},
                        {.shape = {2, groups, n, 5}},
                        {.shape = {2, groups, n, 3}},
                        {.shape = {2}, .dtype = Dtype::i32, .values = {3, 4}},
                        {.shape = {n}, .dtype = Dtype::i32, .lower = 0, .upper = 100},
                        {.shape = {}, .dtype = Dtype::i32, .values = {7}}},
           .build = [](auto &in) {
             const Tensor weights = softmax(matmul(in[0], in[1], {.transpose_b = true}));
             const nn::Dropout dropout = {0.3, in[3], in[4], in[5]};
             return matmul(nn::attention_dropout(weights, 4, dropout, "attn"), in[2]);
           }});
  return cases;
}

static const OpTest test("dropout_by_key", reference, cases);

} // namespace burin::test
