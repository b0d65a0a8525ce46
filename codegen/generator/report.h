// The table of stages that `--table` prints: what each left behind, in numbers.
#pragma once

#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

namespace burin {

class StageReport {
public:
  // file: where the stage was written, empty where it was not. seconds: since the stage before.
  void add(llvm::StringRef stage, llvm::StringRef file, mlir::ModuleOp module, double seconds);
  void addObject(llvm::StringRef file, int64_t bytes, double seconds);
  std::string text(const std::vector<std::string> &remarks) const;

private:
  struct Row {
    std::string stage, file, kinds;
    int64_t ops = 0, launches = 0, kernels = 0, bytes = 0;
    double seconds = 0;
  };
  std::vector<Row> rows;
};

} // namespace burin
