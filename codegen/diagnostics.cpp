#include "codegen/diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "passes/ir/place.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {

using namespace mlir;

static std::string prefix(Location location) {
  FileLineColLoc line = modelLine(location);
  if (!line)
    return "";
  return (line.getFilename().getValue() + ":" + Twine(line.getLine()) + ":" + Twine(line.getColumn()) + ": ").str();
}

static StringRef word(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note:
    return "note: ";
  case DiagnosticSeverity::Warning:
    return "warning: ";
  case DiagnosticSeverity::Error:
    return "error: ";
  case DiagnosticSeverity::Remark:
    return "remark: ";
  }
  return "";
}

ModelDiagnostics::ModelDiagnostics(MLIRContext *context, bool printRemarks)
    : handler(context, [this, printRemarks](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Remark) {
          std::string where = place(diagnostic.getLocation());
          std::string text = (where.empty() ? "" : where + ": ") + diagnostic.str();
          // Several entries share the model's lines; what is told of one holds for all.
          if (llvm::is_contained(kept, text))
            return success();
          kept.push_back(text);
          if (printRemarks)
            llvm::errs() << text << "\n";
          return success();
        }
        llvm::errs() << prefix(diagnostic.getLocation()) << word(diagnostic.getSeverity()) << diagnostic << "\n";
        for (Diagnostic &note : diagnostic.getNotes())
          llvm::errs() << prefix(note.getLocation()) << word(note.getSeverity()) << note << "\n";
        return success();
      }) {
  // The op in MLIR's words is nothing that a model's author wrote.
  context->printOpOnDiagnostic(false);
}

} // namespace burin
