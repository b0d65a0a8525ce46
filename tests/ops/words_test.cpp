// The structural words that stand inside groups: what they mean for the evaluator. They are tested through every op
// whose group holds them, so there are no cases here.
#include "tests/support/evaluator.h"

namespace burin::test {

static Results copy(const Call &call) { return {call.in(0)}; }

// (..., k, n), or (..., n, k) with `transposed`, to (..., n / width rounded up, k, width).
static Results packPanels(const Call &call) {
  const Values &matrix = call.in(0);
  Values panels(call.resultShape());
  const size_t rank = matrix.shape.size();
  const bool transposed = call.flag("transposed");
  const int64_t k = matrix.shape[transposed ? rank - 1 : rank - 2], n = matrix.shape[transposed ? rank - 2 : rank - 1];
  const int64_t width = panels.width(), count = (n + width - 1) / width, batches = matrix.size() / (k * n);
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t row = 0; row < k; ++row)
      for (int64_t column = 0; column < n; ++column)
        panels[((batch * count + column / width) * k + row) * width + column % width] =
            matrix[batch * k * n + (transposed ? column * k + row : row * n + column)];
  return {panels};
}

// Unpacks the right side and multiplies.
static Results product(const Call &call) {
  const Values &panels = call.in(1);
  const size_t rank = panels.shape.size();
  const int64_t width = panels.width(), k = panels.shape[rank - 2], count = panels.shape[rank - 3],
                n = call.resultShape().back();
  std::vector<int64_t> shape(panels.shape.begin(), panels.shape.end() - 3);
  shape.push_back(k);
  shape.push_back(n);
  Values matrix(shape);
  for (int64_t batch = 0; batch < matrix.size() / (k * n); ++batch)
    for (int64_t row = 0; row < k; ++row)
      for (int64_t column = 0; column < n; ++column)
        matrix[(batch * k + row) * n + column] =
            panels[((batch * count + column / width) * k + row) * width + column % width];
  return {matrixProduct(call.in(0), matrix, call.flag("transposed"), false)};
}

[[maybe_unused]] static const bool known[] = {defineReference("copy", copy), defineReference("pack_panels", packPanels),
                                              defineReference("product", product)};

} // namespace burin::test
