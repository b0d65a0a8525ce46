// Row-major is the only layout so far; an unknown one is refused, because guessing would silently permute weights.
#include "store/layout.h"

#include <algorithm>

#include "error.h"

namespace burin::runtime {
namespace {

void checkKnown(const burin_parameter &parameter) {
  if (parameter.layout != BURIN_ROW_MAJOR)
    fail("parameter '{}' has layout {}, which this runtime does not know", parameter.name, parameter.layout);
}

} // namespace

size_t logicalSize(const burin_parameter &parameter) {
  size_t count = 1;
  for (int32_t i = 0; i < parameter.rank; ++i)
    count *= static_cast<size_t>(parameter.shape[i]);
  return count;
}

void toStored(const burin_parameter &parameter, std::span<const float> logical, std::span<float> stored) {
  checkKnown(parameter);
  std::copy(logical.begin(), logical.end(), stored.begin());
}

void toLogical(const burin_parameter &parameter, std::span<const float> stored, std::span<float> logical) {
  checkKnown(parameter);
  std::copy(stored.begin(), stored.end(), logical.begin());
}

} // namespace burin::runtime
