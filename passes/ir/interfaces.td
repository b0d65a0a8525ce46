// How grad/, group/, plan/ and tile/ see an op: by what it can do, never by its class.
#ifndef BURIN_IR_INTERFACES_TD
#define BURIN_IR_INTERFACES_TD

include "mlir/IR/OpBase.td"

// Zero derivative by nature. grad/ treats the op as a constant.
def Burin_NoDerivative : NativeOpTrait<"NoDerivative"> {
  let cppNamespace = "::burin";
}

def Burin_Differentiable : OpInterface<"Differentiable"> {
  let cppNamespace = "::burin";
  let description = [{
    The op can be walked backwards. `adjoint` builds ops after the forward ones.
  }];
  let methods = [
    InterfaceMethod<[{
      Given the gradient of each result (null where a result has none), set the gradient of each operand. An operand may stay
      null: its gradient is zero or was not asked for (`b.needs(operand)`). Each gradient has its operand's type.
    }], "void", "adjoint", (ins "::burin::AdjointBuilder &":$b, "::mlir::ValueRange":$resultGradients,
        "::llvm::MutableArrayRef<::mlir::Value>":$operandGradients)>,
  ];
}

def Burin_Costed : OpInterface<"Costed"> {
  let cppNamespace = "::burin";
  let methods = [
    InterfaceMethod<"FLOPs of matrix products (2MNK) and of everything else, see dsl/core/cost.h.", "::burin::Cost", "cost", (ins)>,
  ];
}

def Burin_BoundedOperands : OpInterface<"BoundedOperands"> {
  let cppNamespace = "::burin";
  let description = [{
    The op indexes by integers that come from outside. import/ writes the bounds on the entry's argument and programs check them before a step.
  }];
  let methods = [
    InterfaceMethod<"Integers of operand `index` must lie in [first, second); nothing where any will do.",
      "std::optional<std::pair<int64_t, int64_t>>", "operandBounds", (ins "unsigned":$index)>,
  ];
}

// ---- tile forms: each op has exactly one

def Burin_Elementwise : OpInterface<"Elementwise"> {
  let cppNamespace = "::burin";
  let description = [{
    result[i...] = f(operands[i...]) with NumPy broadcasting of the operands to the result's shape.
  }];
  let methods = [
    InterfaceMethod<[{
      Build f for one element out of arith, math and `burin.swap_lanes`. `operands` are scalars (f32 or i32), `lane()` gives the
      element's index along the result's last dimension, as an `index`.
    }], "::mlir::Value", "scalar", (ins "::mlir::OpBuilder &":$b, "::mlir::Location":$loc, "::mlir::ValueRange":$operands,
        "::llvm::function_ref<::mlir::Value()>":$lane)>,
    InterfaceMethod<"True where computing an element again inside a kernel costs more than storing and loading it (exp, tanh, ...).", "bool", "isExpensive", (ins), [{}], [{ return false; }]>,
  ];
}

def Burin_Expandable : OpInterface<"Expandable"> {
  let cppNamespace = "::burin";
  let description = [{ The op is a shorthand for simpler ops of the dialect. group/ expands it before anything is grouped. }];
  let methods = [
    InterfaceMethod<"Build the simpler ops at the builder's place and return a value for each result; none, with nothing built, where the op is simple as it is.",
      "::llvm::SmallVector<::mlir::Value>", "expand", (ins "::mlir::OpBuilder &":$b)>,
  ];
}

def Burin_Reduction : OpInterface<"Reduction"> {
  let cppNamespace = "::burin";
  let description = [{ Sum or maximum over some dimensions of the single operand. }];
  let methods = [
    InterfaceMethod<"", "::llvm::SmallVector<int64_t>", "reducedDims", (ins)>,
    InterfaceMethod<"", "bool", "keepsDims", (ins)>,
    InterfaceMethod<"The value that changes nothing: 0 or -inf.", "double", "neutral", (ins)>,
    InterfaceMethod<"Join two partial results.", "::mlir::Value", "combine", (ins "::mlir::OpBuilder &":$b, "::mlir::Location":$loc, "::mlir::Value":$x, "::mlir::Value":$y)>,
  ];
}

def Burin_Contraction : OpInterface<"Contraction"> {
  let cppNamespace = "::burin";
  let description = [{
    A (batched) matrix product of operands 0 and 1 without any further work: c[..., m, n] = sum over k of a[..., m, k] b[..., k, n].
    A rank-2 b is shared by all leading dimensions of a.
  }];
  let methods = [
    InterfaceMethod<"a is stored as (k, m).", "bool", "transposesLhs", (ins)>,
    InterfaceMethod<"b is stored as (n, k).", "bool", "transposesRhs", (ins)>,
  ];
}

def Burin_View : OpInterface<"View"> {
  let cppNamespace = "::burin";
  let description = [{ Names the same elements otherwise: nothing is computed or moved. Operand 0 is what is viewed. }];
  let methods = [
    InterfaceMethod<"How the result's elements lie, given how the operand's do; fails where strides cannot say it.",
      "::mlir::FailureOr<::burin::Strided>", "viewOf", (ins "const ::burin::Strided &":$operand)>,
    InterfaceMethod<"How the operand's elements lie, given how the result's do; fails where strides cannot say it.",
      "::mlir::FailureOr<::burin::Strided>", "viewedFrom", (ins "const ::burin::Strided &":$result)>,
    InterfaceMethod<"Build the view that turns a value of the result's type back into the operand's; null where there is none.",
      "::mlir::Value", "undo", (ins "::mlir::OpBuilder &":$b, "::mlir::Value":$result), [{}], [{ return ::mlir::Value(); }]>,
  ];
}

def Burin_SelfTiled : OpInterface<"SelfTiled"> {
  let cppNamespace = "::burin";
  let description = [{ Writes its own kernel in tile words: gathers, scatters, attention. Opens a group. }];
  let methods = [
    InterfaceMethod<"Independent pieces of the work, by shapes and target facts only.", "int64_t", "cells", (ins "::burin::TargetAttr":$target)>,
    InterfaceMethod<[{
      Write the work of one cell (an index) at the builder's place. `operands` and `results` say where the tensors lie.
    }], "void", "tile", (ins "::burin::TileBuilder &":$t, "::mlir::Value":$cell, "::llvm::ArrayRef<::burin::Stored>":$operands, "::llvm::ArrayRef<::burin::Stored>":$results)>,
    InterfaceMethod<[{
      Whether cell i makes matrix i, the last two dimensions, of every result: all of it and nothing else. What follows row by row can then be done
      in the same cell.
    }], "bool", "makesWholeMatrices", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
      Whether this operand may lie in memory in bf16 where products take bf16: it is read for products, or for sums that go with them.
    }], "bool", "takesBf16", (ins "unsigned":$operand), [{}], [{ return false; }]>,
    InterfaceMethod<"Whether this result may lie in memory in bf16: what is summed up before it is written there.", "bool", "givesBf16", (ins "unsigned":$result), [{}],
      [{ return false; }]>,
  ];
}

def Burin_RowPermuting : OpInterface<"RowPermuting"> {
  let cppNamespace = "::burin";
  let description = [{ Moves the elements of each row in a way that strides cannot say. The result has the operand's type. }];
  let methods = [
    InterfaceMethod<"Write into `to` the rows of `from`, moved: tiles of the same whole rows that share no memory.",
      "void", "permuteRows", (ins "::burin::TileBuilder &":$t, "::mlir::Value":$from, "::mlir::Value":$to)>,
  ];
}

def Burin_AddsInto : OpInterface<"AddsInto"> {
  let cppNamespace = "::burin";
  let description = [{
    The only result is an operand with something added to a few of its elements: gradients of gathers. Sums with such a result become its
    start, and it may lie in the start's place, so that elements to which nothing is added need not be touched.
  }];
  let methods = [
    InterfaceMethod<"The number of the operand that it starts with, of the result's type.", "unsigned", "startOperand", (ins)>,
  ];
}

#endif
