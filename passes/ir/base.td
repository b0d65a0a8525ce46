// What every op definition builds on: the dialect, the tensor types, and the base classes.
#ifndef BURIN_IR_BASE_TD
#define BURIN_IR_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "passes/ir/interfaces.td"

def Burin_Dialect : Dialect {
  let name = "burin";
  let cppNamespace = "::burin";
  let summary = "a language model, from its op graph to the launches that compute it";
  let description = [{
    One dialect for every stage. Model ops (`burin.matmul`, `burin.rms_norm`) work on statically shaped tensors;
    `burin.group` holds the ops that one launch computes; `burin.launch` is a planned launch; `burin.contract`,
    `burin.pack` and `burin.swap_lanes` are the words of the tile form that `linalg` and `scf` lack.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    // For the registration of each op beside its definition (passes/ops).
    template <typename... Ops> void add() { addOperations<Ops...>(); }
  }];
}

// Statically shaped and ranked; the verifier of each op asks its shape rule in dsl/ops.
def Burin_F32Tensor : StaticShapeTensorOf<[F32]>;
def Burin_I32Tensor : StaticShapeTensorOf<[I32]>;
def Burin_Tensor : StaticShapeTensorOf<[F32, I32]>;

// The interfaces with their methods declared in the op's class, as an op names them in its traits.
def Burin_HasCost : DeclareOpInterfaceMethods<Burin_Costed>;
def Burin_HasAdjoint : DeclareOpInterfaceMethods<Burin_Differentiable>;
def Burin_HasBounds : DeclareOpInterfaceMethods<Burin_BoundedOperands>;
def Burin_IsElementwise : DeclareOpInterfaceMethods<Burin_Elementwise>;
def Burin_IsExpensiveElementwise : DeclareOpInterfaceMethods<Burin_Elementwise, ["isExpensive"]>;
def Burin_IsExpandable : DeclareOpInterfaceMethods<Burin_Expandable>;
def Burin_IsReduction : DeclareOpInterfaceMethods<Burin_Reduction>;
def Burin_IsContraction : DeclareOpInterfaceMethods<Burin_Contraction>;
def Burin_IsView : DeclareOpInterfaceMethods<Burin_View, ["undo"]>;
def Burin_IsSelfTiled : DeclareOpInterfaceMethods<Burin_SelfTiled>;
class Burin_IsSelfTiledAnd<list<string> more> : DeclareOpInterfaceMethods<Burin_SelfTiled, more>;
def Burin_IsRowPermuting : DeclareOpInterfaceMethods<Burin_RowPermuting>;
def Burin_IsAddingInto : DeclareOpInterfaceMethods<Burin_AddsInto>;

// Any op of the dialect that computes tensors from tensors.
class Burin_PureOp<string mnemonic, list<Trait> traits = []> : Op<Burin_Dialect, mnemonic, !listconcat([Pure], traits)>;

// A model op whose .cpp defines `inferReturnTypes`, `cost`, `adjoint` and one tile form, named in `traits`: `scalar`,
// `expand`, a view, ... (interfaces.td).
class Burin_Op<string mnemonic, list<Trait> traits = []>
    : Burin_PureOp<mnemonic, !listconcat([InferTypeOpAdaptor, Burin_HasCost, Burin_HasAdjoint], traits)>;

// A model op without a derivative, said aloud: masks, comparisons, conversions from integers.
class Burin_OpWithoutDerivative<string mnemonic, list<Trait> traits = []>
    : Burin_PureOp<mnemonic, !listconcat([InferTypeOpAdaptor, Burin_HasCost, Burin_NoDerivative], traits)>;

// Result type and cost by a rule: a struct with `shape`, `dtype` and `cost` as in dsl/ops. The .cpp says how the op's
// attributes make that struct, `template <typename Op> static Scale rule(Op op)`, for the op and its adaptor alike, and
// includes "passes/ops/<mnemonic>.inc" last.
class Burin_ByRule {
  code definition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context,
        std::optional<::mlir::Location> location, Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::burin::inferByRule(context, location, adaptor.getOperands(), types, [&] { return rule(adaptor); });
    }
    ::burin::Cost $cppClass::cost() {
      return ::burin::costByRule(rule(*this), getOperation()->getOperands());
    }
  }];
}
class Burin_OpByRule<string mnemonic, list<Trait> traits = []> : Burin_Op<mnemonic, traits> {
  let extraClassDefinition = Burin_ByRule<>.definition;
}
class Burin_OpByRuleWithoutDerivative<string mnemonic, list<Trait> traits = []>
    : Burin_OpWithoutDerivative<mnemonic, traits> {
  let extraClassDefinition = Burin_ByRule<>.definition;
}

#endif
