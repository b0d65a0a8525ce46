// The part of type inference that does not depend on the rule.
#include "passes/ir/infer.h"
#include "passes/ir/bytes.h"

#include "mlir/IR/Diagnostics.h"

namespace burin {

Shape shapeOf(llvm::ArrayRef<int64_t> sizes) {
  Shape shape;
  for (int64_t size : sizes)
    shape.append(size);
  return shape;
}

Shape shapeOf(mlir::Type tensor) { return shapeOf(mlir::cast<mlir::RankedTensorType>(tensor).getShape()); }

Dtype dtypeOf(mlir::Type tensor) { return mlir::getElementTypeOrSelf(tensor).isInteger(32) ? Dtype::i32 : Dtype::f32; }

mlir::RankedTensorType tensorType(mlir::MLIRContext *context, const Shape &shape, Dtype dtype) {
  mlir::Type element = mlir::Float32Type::get(context);
  if (dtype == Dtype::i32)
    element = mlir::IntegerType::get(context, 32);
  return mlir::RankedTensorType::get(llvm::ArrayRef<int64_t>(shape.begin(), shape.end()), element);
}

llvm::LogicalResult catchModelError(std::optional<mlir::Location> location, llvm::function_ref<void()> body) {
  try {
    body();
    return llvm::success();
  } catch (const ModelError &error) {
    return mlir::emitOptionalError(location, error.message());
  }
}

llvm::LogicalResult detail::inferType(mlir::MLIRContext *context, std::optional<mlir::Location> location,
                                      mlir::ValueRange operands, llvm::SmallVectorImpl<mlir::Type> &types,
                                      TypeRule rule) {
  llvm::SmallVector<Shape> shapes;
  llvm::SmallVector<Dtype> dtypes;
  // Types are inferred before operands are verified, so nothing is known of them yet.
  for (mlir::Type type : operands.getTypes()) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() ||
        !(tensor.getElementType().isF32() || tensor.getElementType().isInteger(32)))
      return mlir::emitOptionalError(location, "expected a statically shaped tensor of f32 or i32, found ", type);
    if (tensor.getRank() > Shape::max_rank)
      return mlir::emitOptionalError(location, "a shape has at most ", int(Shape::max_rank), " dimensions, found ",
                                     type);
    shapes.push_back(shapeOf(type));
    dtypes.push_back(dtypeOf(type));
  }
  return catchModelError(location, [&] {
    auto [shape, dtype] = rule(shapes, dtypes);
    types.push_back(tensorType(context, shape, dtype));
  });
}

int64_t bytesOf(mlir::Type tensor) {
  auto type = mlir::cast<mlir::RankedTensorType>(tensor);
  return type.getNumElements() * (type.getElementTypeBitWidth() / 8);
}

} // namespace burin
