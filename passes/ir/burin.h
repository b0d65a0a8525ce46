// The dialect's C++ face: attributes, interfaces and structural ops. Model ops have their own headers, generated one by
// one (passes/ops).
#pragma once

#include "core/cost.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/ir/adjoint.h"
#include "passes/ir/strided.h"

namespace burin {
class TileBuilder;

// Marks ops whose derivative is zero by nature.
template <typename ConcreteType> class NoDerivative : public mlir::OpTrait::TraitBase<ConcreteType, NoDerivative> {};
} // namespace burin

#include "passes/ir/dialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "passes/ir/attributes.h.inc"
#include "passes/ir/interfaces.h.inc"
#define GET_OP_CLASSES
#include "passes/ir/words.h.inc"
