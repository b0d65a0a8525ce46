#include "report.h"

#include <algorithm>
#include <map>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/ir/burin.h"
#include "llvm/Support/FormatVariadic.h"

namespace burin {

using namespace mlir;

// "matmul 87, mul 40": most frequent first; the dialect is named where it isn't ours.
static std::string kindsText(const std::map<std::string, int64_t> &kinds) {
  std::vector<std::pair<std::string, int64_t>> sorted(kinds.begin(), kinds.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](auto &a, auto &b) { return a.second > b.second; });
  std::string text;
  for (auto &[kind, count] : sorted)
    text += (text.empty() ? "" : ", ") + kind + " " + std::to_string(count);
  return text;
}

void StageReport::add(StringRef stage, StringRef file, ModuleOp module, double seconds) {
  Row row{.stage = stage.str(), .file = file.str(), .kinds = {}, .seconds = seconds};
  std::map<std::string, int64_t> kinds;
  module.walk([&](Operation *op) {
    if (isa<ModuleOp>(op))
      return;
    // The machine's own dialects appear in thousands: each counts as one kind.
    StringRef dialect = op->getName().getDialectNamespace();
    ++row.ops;
    ++kinds[dialect == "burin"  ? op->getName().stripDialect().str()
            : dialect == "llvm" ? "llvm"
                                : op->getName().getStringRef().str()];
    row.launches += isa<LaunchOp, GroupOp>(op);
    row.kernels += op->hasAttr("burin.kernel");
    if (auto bytes = op->getAttrOfType<DenseI64ArrayAttr>("burin.bytes"); bytes && bytes.size() > 4)
      row.bytes = std::max(row.bytes, bytes[4]); // the arena, greatest over the entries
  });
  row.kinds = kindsText(kinds);
  rows.push_back(std::move(row));
}

void StageReport::addObject(StringRef file, int64_t bytes, double seconds) {
  rows.push_back({.stage = "object", .file = file.str(), .kinds = {}, .bytes = bytes, .seconds = seconds});
}

std::string StageReport::text(const std::vector<std::string> &remarks) const {
  std::string text = "stage        ops  launches  kernels          bytes  seconds  file\n";
  for (const Row &row : rows) {
    auto number = [](int64_t value) { return value == 0 ? std::string("-") : std::to_string(value); };
    text += llvm::formatv("{0,-10}{1,6}{2,10}{3,9}{4,15}{5,9:F2}  {6}\n", row.stage, number(row.ops),
                          number(row.launches), number(row.kernels), number(row.bytes), row.seconds, row.file);
    if (!row.kinds.empty())
      text += "           " + row.kinds + "\n";
  }
  text += "\nbytes: of the arena where it is planned; of the file for the object. launches: of all entries; groups "
          "before stage 'tiled'.\n";
  if (!remarks.empty())
    text += "\nremarks:\n";
  for (const std::string &remark : remarks)
    text += "  " + remark + "\n";
  return text;
}

} // namespace burin
