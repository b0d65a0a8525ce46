// Reads places and scopes back from locations.
#include "passes/ir/place.h"

namespace burin {

// The outermost caller is the model's own line. What several ops became part of tells of the first.
mlir::FileLineColLoc modelLine(mlir::Location location) {
  if (auto line = mlir::dyn_cast<mlir::FileLineColLoc>(location))
    return line;
  if (auto name = mlir::dyn_cast<mlir::NameLoc>(location))
    return modelLine(name.getChildLoc());
  if (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(location))
    return modelLine(call.getCaller());
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(location))
    for (mlir::Location part : fused.getLocations())
      if (auto line = modelLine(part))
        return line;
  return {};
}

std::string place(mlir::Location location) {
  const mlir::FileLineColLoc line = modelLine(location);
  return line ? line.getFilename().str() + ":" + std::to_string(line.getLine()) : std::string();
}

std::string scope(mlir::Location location) {
  if (auto name = mlir::dyn_cast<mlir::NameLoc>(location))
    return name.getName().str();
  if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(location))
    for (mlir::Location part : fused.getLocations())
      if (std::string found = scope(part); !found.empty())
        return found;
  return {};
}

} // namespace burin
