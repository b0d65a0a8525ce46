#include "codegen/files.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace burin {

bool writeFile(llvm::StringRef path, llvm::StringRef bytes, std::string &error) {
  if (path == "-") {
    llvm::outs() << bytes;
    llvm::outs().flush();
    return true;
  }
  // A device or a pipe is written to, not replaced.
  llvm::sys::fs::file_status status;
  const bool inPlace = !llvm::sys::fs::status(path, status) && !llvm::sys::fs::is_regular_file(status) &&
                       !llvm::sys::fs::is_directory(status);
  std::string temporary = inPlace ? path.str() : (path + ".new").str();
  std::error_code problem;
  {
    llvm::raw_fd_ostream stream(temporary, problem);
    if (!problem) {
      stream << bytes;
      stream.close();
      problem = stream.error();
      stream.clear_error();
    }
  }
  if (!problem && !inPlace)
    problem = llvm::sys::fs::rename(temporary, path);
  if (problem) {
    if (!inPlace)
      llvm::sys::fs::remove(temporary);
    error = ("cannot write '" + path + "': " + problem.message()).str();
  }
  return !problem;
}

std::string moduleText(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  module.print(stream, flags);
  return text;
}

void markStage(mlir::ModuleOp module, llvm::StringRef stage) {
  module->setAttr("burin.stage", mlir::StringAttr::get(module.getContext(), stage));
}

std::string markedStage(mlir::ModuleOp module) {
  auto stage = module->getAttrOfType<mlir::StringAttr>("burin.stage");
  return stage ? stage.getValue().str() : "";
}

} // namespace burin
