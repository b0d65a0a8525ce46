// to_float: i32 as f32.
#include "ops/to_float.h"
#include "passes/ir/infer.h"
#include "passes/ops/scalar.h"
#include "passes/ops/to_float.h"

using namespace mlir;

namespace burin {

template <typename Op> static ToFloat rule(Op) { return {}; }

Value ToFloatOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()>) {
  return arith::SIToFPOp::create(b, loc, b.getF32Type(), operands[0]);
}

} // namespace burin

#include "passes/ops/to_float.inc"
