// How much memory a tensor takes.
#pragma once

#include "mlir/IR/Types.h"

namespace burin {

// Bytes of a statically shaped tensor, stored densely.
int64_t bytesOf(mlir::Type tensor);

} // namespace burin
