// linear_cross_entropy: the loss, and both gradients that the forward op makes beside it.
#include <algorithm>
#include <cmath>

#include "tests/ops/elementwise.h"

namespace burin::test {

static Results reference(const Call &call) {
  const Values &x = call.in(0), &w = call.in(1), &targets = call.in(2);
  Values slope = matrixProduct(x, w, false, true);
  double loss = 0;
  for (int64_t row = 0; row < slope.rows(); ++row) {
    double *logits = slope.data.data() + row * slope.width();
    const auto target = static_cast<int64_t>(targets[row]);
    if (target == -1) {
      std::fill(logits, logits + slope.width(), 0.0);
      continue;
    }
    const double most = *std::max_element(logits, logits + slope.width());
    double sum = 0;
    for (int64_t c = 0; c < slope.width(); ++c)
      sum += std::exp(logits[c] - most);
    loss += std::log(sum) + most - logits[target];
    for (int64_t c = 0; c < slope.width(); ++c)
      logits[c] = std::exp(logits[c] - most) / sum - (c == target ? 1 : 0);
  }
  return {Values::scalar(loss), matrixProduct(slope, w, false, false), matrixProduct(slope, x, true, false)};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  auto add = [&](int64_t rows, int64_t depth, int64_t classes, int64_t chunks, bool counted = true) {
    const std::string x = "tensor<" + std::to_string(rows) + "x" + std::to_string(depth) + "xf32>",
                      w = "tensor<" + std::to_string(classes) + "x" + std::to_string(depth) + "xf32>",
                      targets = "tensor<" + std::to_string(rows) + "xi32>";
    cases.push_back(
        {.name = x + " to " + std::to_string(classes) + " classes in " + std::to_string(chunks) +
                 (counted ? "" : ", all ignored"),
         .operands =
             {{.shape = {rows, depth}},
              {.shape = {classes, depth}},
              {.shape = {rows}, .dtype = Dtype::i32, .lower = -1, .upper = counted ? static_cast<double>(classes) : 0}},
         .build = {},
         .text = "func.func @op(%x: " + x + ", %w: " + w + ", %t: " + targets + ") -> (tensor<f32>, " + x + ", " + w +
                 ") {\n" + "  %loss, %dx, %dw = burin.linear_cross_entropy %x, %w, %t chunks " +
                 std::to_string(chunks) + " : " + x + ", " + w + ", " + targets +
                 "\n  return %loss, %dx, %dw : tensor<f32>, " + x + ", " + w + "\n}",
         .tolerance = 5e-6});
  };
  for (int64_t n : oddSizes) {
    add(n, 5, 13, std::min<int64_t>(n, 4));
    add(7, n, 17, 3);
    add(5, 3, n, 1);
  }
  add(7, 5, 13, 3, /*counted=*/false);
  return cases;
}

static const OpTest test("linear_cross_entropy", reference, cases);

} // namespace burin::test
