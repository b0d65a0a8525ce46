// Verifiers of the structural ops: packaged LLVM has no assertions, so these catch a malformed group or tile.
#include "passes/ir/burin.h"

#define GET_OP_CLASSES
#include "passes/ir/words.cpp.inc"

namespace burin {

void registerWords(BurinDialect &dialect) {
  dialect.add<
#define GET_OP_LIST
#include "passes/ir/words.cpp.inc"
      >();
}

bool TargetAttr::keepsInScratch(llvm::ArrayRef<mlir::Value> interim) const {
  int64_t bytes = 0;
  for (mlir::Value value : interim)
    bytes += llvm::product_of(mlir::cast<mlir::RankedTensorType>(value.getType()).getShape().take_back(2)) *
             static_cast<int64_t>(sizeof(float));
  return bytes <= getL2() / 8;
}

void YieldOp::build(mlir::OpBuilder &, mlir::OperationState &) {}

// Whether values of a group's body lie in memory as tensors of these types: their own, or bf16 for f32.
static bool areStoredAs(mlir::TypeRange values, mlir::TypeRange tensors) {
  return llvm::equal(values, tensors, [](mlir::Type value, mlir::Type tensor) {
    auto type = mlir::cast<mlir::RankedTensorType>(value);
    return tensor == type ||
           (type.getElementType().isF32() && tensor == type.clone(mlir::BFloat16Type::get(type.getContext())));
  });
}

llvm::LogicalResult GroupOp::verify() {
  mlir::Block &block = getBody().front();
  if (!areStoredAs(block.getArgumentTypes(), getInputs().getTypes()))
    return emitOpError("takes ") << getInputs().getTypes() << ", but its body takes " << block.getArgumentTypes();
  auto yield = mlir::dyn_cast<YieldOp>(block.back());
  if (!yield)
    return emitOpError("must end in burin.yield");
  if (!areStoredAs(yield.getValues().getTypes(), getOutputs().getTypes()))
    return emitOpError("gives ") << getOutputs().getTypes() << ", but its body yields " << yield.getValues().getTypes();
  for (mlir::Operation &op : block)
    if (op.getDialect() != (*this)->getDialect() || mlir::isa<GroupOp, LaunchOp>(op))
      return op.emitOpError("cannot be part of a group");
  return llvm::success();
}

// A tile's memory must be known up to its offset.
static llvm::FailureOr<llvm::SmallVector<int64_t>> tileStrides(mlir::Operation *op, mlir::Type type, int64_t rank,
                                                               bool mayBeBf16 = false) {
  auto memref = mlir::cast<mlir::MemRefType>(type);
  llvm::SmallVector<int64_t> strides;
  int64_t offset;
  mlir::Type element = memref.getElementType();
  if (memref.getRank() != rank || !(element.isF32() || (mayBeBf16 && element.isBF16())) || !memref.hasStaticShape() ||
      failed(memref.getStridesAndOffset(strides, offset)) || llvm::is_contained(strides, mlir::ShapedType::kDynamic))
    return op->emitOpError(mayBeBf16 ? "expected an f32 or bf16 tile with " : "expected an f32 tile with ")
           << rank << " dimensions, static sizes and static strides, found " << type;
  return strides;
}

// Whether panels hold k x n: rows of `width`, or pairs of them in bf16.
static bool arePanels(mlir::MemRefType panels, int64_t k, int64_t n) {
  const int64_t pair = panels.getElementType().isBF16() ? 2 : 1, width = panels.getDimSize(2) / pair;
  return width * pair == panels.getDimSize(2) && width > 0 && panels.getDimSize(1) == (k + pair - 1) / pair &&
         panels.getDimSize(0) == (n + width - 1) / width;
}

static llvm::LogicalResult verifyPanels(mlir::Operation *op, mlir::MemRefType panels, int64_t k, int64_t n,
                                        bool mayBeSliced) {
  auto strides = tileStrides(op, panels, 3, /*mayBeBf16=*/true);
  if (failed(strides))
    return llvm::failure();
  llvm::ArrayRef<int64_t> sizes = panels.getShape();
  const bool adjacent = mayBeSliced || (*strides)[0] == sizes[1] * sizes[2];
  if (!arePanels(panels, k, n) || !adjacent || (*strides)[1] != sizes[2] || (*strides)[2] != 1)
    return op->emitOpError("expected contiguous panels that hold ") << k << " x " << n << ", found " << panels;
  return llvm::success();
}

llvm::LogicalResult ContractOp::verify() {
  auto cStrides = tileStrides(*this, getC().getType(), 2),
       aStrides = tileStrides(*this, getA().getType(), 2, /*mayBeBf16=*/true);
  if (failed(cStrides) || failed(aStrides))
    return llvm::failure();
  const int64_t m = getC().getType().getDimSize(0), n = getC().getType().getDimSize(1),
                k = getA().getType().getDimSize(1);
  if (getA().getType().getDimSize(0) != m)
    return emitOpError("expected as many rows in a as in c, found ") << getA().getType() << " and " << getC().getType();
  if (n > 1 && (*cStrides)[1] != 1)
    return emitOpError("expected unit stride along the last dimension of c, found ") << getC().getType();
  if ((m > 1 && (*aStrides)[0] == 0) || (k > 1 && (*aStrides)[1] == 0))
    return emitOpError("expected no repeated elements in a, found ") << getA().getType();
  if (mlir::Value ahead = getAhead()) {
    auto strides = tileStrides(*this, ahead.getType(), 2, /*mayBeBf16=*/true);
    if (failed(strides))
      return llvm::failure();
    if ((*strides)[1] != 1)
      return emitOpError("expected unit stride along the last dimension of what lies ahead, found ") << ahead.getType();
  }
  const bool pairs = getA().getType().getElementType().isBF16();
  if (pairs && (k % 2 != 0 || (*aStrides)[1] != 1 || getB().getType().getRank() != 3))
    return emitOpError("expected adjacent columns, an even number of them, and a packed b with a in bf16, found ")
           << getA().getType() << " and " << getB().getType();
  if (pairs != getB().getType().getElementType().isBF16())
    return emitOpError("expected a and b of the same type, found ") << getA().getType() << " and " << getB().getType();
  if (getB().getType().getRank() == 3)
    return verifyPanels(*this, getB().getType(), k, n, /*mayBeSliced=*/true);
  auto bStrides = tileStrides(*this, getB().getType(), 2);
  if (failed(bStrides))
    return llvm::failure();
  if (getB().getType().getDimSize(0) != k || getB().getType().getDimSize(1) != n || (n > 1 && (*bStrides)[1] != 1))
    return emitOpError("expected b to be ")
           << k << " x " << n << " with unit stride along its last dimension, found " << getB().getType();
  return llvm::success();
}

llvm::LogicalResult PackOp::verify() {
  if (failed(tileStrides(*this, getSource().getType(), 2, /*mayBeBf16=*/true)))
    return llvm::failure();
  if (getSource().getType().getElementType().isBF16() && !getPanels().getType().getElementType().isBF16())
    return emitOpError("expected panels of bf16 for a source of bf16, found ") << getPanels().getType();
  return verifyPanels(*this, getPanels().getType(), getSource().getType().getDimSize(0),
                      getSource().getType().getDimSize(1), /*mayBeSliced=*/false);
}

} // namespace burin
