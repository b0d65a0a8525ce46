// Between a parameter's logical elements, which checkpoints and callers see, and its stored ones, which kernels see.
// The only two functions that know what a layout means.
#pragma once
#include <span>

#include "abi/burin.h"

namespace burin::runtime {

size_t logicalSize(const burin_parameter &parameter);
void toStored(const burin_parameter &parameter, std::span<const float> logical, std::span<float> stored);
void toLogical(const burin_parameter &parameter, std::span<const float> stored, std::span<float> logical);

} // namespace burin::runtime
