// The remarks of the fusions. See not_fused.h.
#include "passes/fuse/not_fused.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "passes/ir/place.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace burin {

// "64 MB", "8.4 MB", "512 bytes": two digits say enough.
static std::string size(int64_t bytes) {
  static constexpr const char *units[] = {"bytes", "KB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(units); ++unit)
    value /= 1000;
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(unit == 0 || value >= 10 ? "%.0f" : "%.1f", value) << " "
                                 << units[unit];
  return text;
}

void notFused(Operation *op, StringRef what, const Twine &why, int64_t bytesKept) {
  auto function = op->getParentOfType<func::FuncOp>();
  if (function->hasAttr("burin.entry") && !function->hasAttr("burin.differentiate"))
    return;
  const FileLineColLoc line = modelLine(op->getLoc());
  emitRemark(line ? Location(line) : op->getLoc())
      << what << " not fused: " << why.str() << "; keeps " << size(bytesKept);
}

} // namespace burin
