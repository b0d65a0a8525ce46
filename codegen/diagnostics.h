// Diagnostics in the form that editors and C++ compilers share, `file:line:col: error: message`, at the line of the
// model.
#pragma once

#include <string>
#include <vector>

#include "mlir/IR/Diagnostics.h"

namespace burin {

// Prints errors and warnings to stderr as they come and keeps remarks. A location inside a layer is told as the model's
// line, with the layer's as a note.
class ModelDiagnostics {
public:
  // printRemarks: also print remarks as they come.
  ModelDiagnostics(mlir::MLIRContext *context, bool printRemarks);

  // "models/cs336.cpp:41: attention not fused: ...", in the order of their coming, without repetitions.
  const std::vector<std::string> &remarks() const { return kept; }

private:
  std::vector<std::string> kept;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace burin
