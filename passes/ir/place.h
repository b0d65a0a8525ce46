// Where an op comes from in the user's words, read from its location: NameLoc(scope, CallSiteLoc(layer line at model
// line)).
#pragma once

#include <string>

#include "mlir/IR/Location.h"

namespace burin {

// The line that a location leads to: the model's, where a layer's is called from it. Null where there is none.
mlir::FileLineColLoc modelLine(mlir::Location location);
// The model's line, "models/gpt.cpp:41"; empty where the location names none.
std::string place(mlir::Location location);
// The layer's dotted name, "layers.0.attn"; empty outside any.
std::string scope(mlir::Location location);

} // namespace burin
