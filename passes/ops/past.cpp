// past: everything so far along the sequence; in training, where a sequence is whole, the identity.
#include "ops/past.h"
#include "passes/ir/infer.h"
#include "passes/ops/past.h"

using namespace mlir;

namespace burin {

template <typename Op> static Past rule(Op) { return {}; }

FailureOr<Strided> PastOp::viewOf(const Strided &operand) { return operand; }
FailureOr<Strided> PastOp::viewedFrom(const Strided &result) { return result; }
Value PastOp::undo(OpBuilder &, Value result) { return result; }

// dx = dy
void PastOp::adjoint(AdjointBuilder &, ValueRange gradients, MutableArrayRef<Value> operandGradients) {
  operandGradients[0] = gradients[0];
}

} // namespace burin

#include "passes/ops/past.inc"
