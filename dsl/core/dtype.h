// Dtype: what the elements of a tensor are in a declaration. Storage in fewer bits is the compiler's choice, not the
// model's.
#pragma once

#include <cstdint>
#include <string>

namespace burin {

enum class Dtype : uint8_t { f32, i32 };

constexpr int64_t bytes(Dtype) { return 4; }

inline std::string describe(Dtype dtype) { return dtype == Dtype::f32 ? "f32" : "i32"; }

} // namespace burin
