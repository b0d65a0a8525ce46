// one_hot: 1 at the class of each row; -1 marks nothing.
#include "tests/support/op_test.h"

namespace burin::test {

static Results reference(const Call &call) {
  const int64_t classes = call.integer("classes");
  std::vector<int64_t> shape = call.in(0).shape;
  shape.back() = classes;
  Values y(shape);
  for (int64_t row = 0; row < call.in(0).size(); ++row)
    if (call.in(0)[row] >= 0)
      y[row * classes + static_cast<int64_t>(call.in(0)[row])] = 1;
  return {y};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  for (int64_t n : oddSizes) {
    const std::string classes = std::to_string(n);
    cases.push_back(
        {.name = classes + " classes",
         .operands = {{.shape = {2, 5, 1}, .dtype = Dtype::i32, .lower = -1, .upper = static_cast<double>(n)}},
         .build = {},
         .text = "func.func @op(%x: tensor<2x5x1xi32>) -> tensor<2x5x" + classes +
                 "xi32> { %y = burin.one_hot %x classes " + classes + " : tensor<2x5x1xi32>  return %y : tensor<2x5x" +
                 classes + "xi32> }"});
  }
  return cases;
}

static const OpTest test("one_hot", reference, cases);

} // namespace burin::test
