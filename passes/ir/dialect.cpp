// The dialect: registers attributes, the structural ops, and every op of passes/ops.
#include "mlir/IR/DialectImplementation.h"
#include "passes/ir/burin.h"
#include "llvm/ADT/TypeSwitch.h"

#include "passes/ir/dialect.cpp.inc"
#include "passes/ir/interfaces.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "passes/ir/attributes.cpp.inc"

namespace burin {

// Each op's .cpp defines its own (passes/ops/<mnemonic>.inc), so that a change to one op compiles nothing else.
void registerWords(BurinDialect &dialect);
#define BURIN_OP(mnemonic) void register_##mnemonic(BurinDialect &dialect);
#include "passes/ops/ops.inc"
#undef BURIN_OP

void BurinDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "passes/ir/attributes.cpp.inc"
      >();
  registerWords(*this);
#define BURIN_OP(mnemonic) register_##mnemonic(*this);
#include "passes/ops/ops.inc"
#undef BURIN_OP
}

} // namespace burin
