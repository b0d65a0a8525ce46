// swiglu: types, cost, adjoint and what it stands for. See the .td file.
#include "passes/ops/swiglu.h"

#include "ops/matmul.h"
#include "ops/mul.h"
#include "ops/silu.h"
#include "passes/ir/infer.h"
#include "passes/ops/add.h"
#include "passes/ops/matmul.h"
#include "passes/ops/mul.h"
#include "passes/ops/reshape.h"
#include "passes/ops/silu.h"

using namespace mlir;

namespace burin {

LogicalResult SwigluOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return catchModelError(location, [&] {
    const Shape x = shapeOf(adaptor.getX().getType()), gate = shapeOf(adaptor.getWGate().getType()),
                up = shapeOf(adaptor.getWUp().getType());
    check(gate.rank() == 2 && gate == up, "the weights of swiglu must be two matrices of one shape", "w_gate", gate,
          "w_up", up);
    types.append(3, tensorType(context, Matmul{.transpose_b = true}.shape(x, gate), Dtype::f32));
  });
}

Cost SwigluOp::cost() {
  const Shape x = shapeOf(getX().getType()), w = shapeOf(getWGate().getType()), y = shapeOf(getY().getType());
  return {.products = 2 * Matmul{.transpose_b = true}.cost(x, w).products,
          .other = Silu::cost(y).other + Mul::cost(y, y).other};
}

static MatmulOp product(OpBuilder &b, Location loc, Value x, Value w) {
  return MatmulOp::create(b, loc, x, w, /*transpose_a=*/false, /*transpose_b=*/true);
}

// y = silu(gate) * up
SmallVector<Value> SwigluOp::expand(OpBuilder &b) {
  Value gate = product(b, getLoc(), getX(), getWGate()), up = product(b, getLoc(), getX(), getWUp());
  Value y = MulOp::create(b, getLoc(), SiluOp::create(b, getLoc(), gate), up);
  return {y, gate, up};
}

// dup = dy * silu(gate),  dgate = silu'(gate) * dy * up,
// dx = dgate w_gate + dup w_up,  dw_gate = dgate^T x,  dw_up = dup^T x
void SwigluOp::adjoint(AdjointBuilder &b, ValueRange resultGradients, MutableArrayRef<Value> operandGradients) {
  auto again = [](Operation *op) {
    op->setAttr("burin.recompute", UnitAttr::get(op->getContext()));
    return op->getResult(0);
  };
  auto sum = [&](Value x, Value y) { return x && y ? b.make<AddOp>(x, y) : x ? x : y; };
  Value gate = getGate(), up = getUp();
  Value dgate = resultGradients[1], dup = resultGradients[2];
  if (Value dy = resultGradients[0]) {
    auto silu = SiluOp::create(b.b, b.loc, gate);
    dup = sum(dup, b.make<MulOp>(dy, again(silu)));
    AdjointBuilder all{b.b, b.loc, [](Value) { return true; }};
    Value slope;
    silu.adjoint(all, b.make<MulOp>(dy, up), slope);
    dgate = sum(dgate, slope);
  }

  const int64_t depth = getX().getType().getShape().back(), hidden = getY().getType().getShape().back();
  const int64_t rows = getX().getType().getNumElements() / depth;
  auto flat = [&](Value x, int64_t columns) -> Value {
    const int64_t shape[] = {rows, columns};
    return cast<RankedTensorType>(x.getType()).getRank() == 2 ? x : b.make<ReshapeOp>(x, ArrayRef<int64_t>(shape));
  };
  for (auto [i, gradient, weight] : {std::tuple(1, dgate, getWGate()), std::tuple(2, dup, getWUp())}) {
    if (!gradient)
      continue;
    if (b.needs(getX()))
      operandGradients[0] =
          sum(operandGradients[0], b.make<MatmulOp>(gradient, weight, /*transpose_a=*/false, /*transpose_b=*/false));
    if (b.needs(weight))
      operandGradients[i] =
          b.make<MatmulOp>(flat(gradient, hidden), flat(getX(), depth), /*transpose_a=*/true, /*transpose_b=*/false);
  }
}

} // namespace burin

#include "passes/ops/swiglu.inc"
