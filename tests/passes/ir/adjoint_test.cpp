// Gradients of broadcast operands come back in the operand's type.
#include <gtest/gtest.h>

#include "passes/ops/ops.h"
#include "tests/passes/ir/support.h"

namespace burin::test {
namespace {

// The ops that take a gradient of type `from` back to type `to`, by name.
std::string sumBack(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to) {
  Reader reader;
  mlir::OpBuilder b(&reader.context);
  const mlir::Location loc = b.getUnknownLoc();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  b.setInsertionPointToEnd(module->getBody());
  auto type = [&](llvm::ArrayRef<int64_t> shape) { return mlir::RankedTensorType::get(shape, b.getF32Type()); };
  mlir::Value gradient = ConstantOp::create(b, loc, type(from), llvm::APFloat(1.0));
  AdjointBuilder adjoint{b, loc, [](mlir::Value) { return true; }};
  mlir::Value sum = sumToType(adjoint, gradient, type(to));
  EXPECT_EQ(sum.getType(), type(to));
  std::string names;
  for (mlir::Operation &op : llvm::drop_begin(*module->getBody()))
    names += (names.empty() ? "" : " ") + op.getName().stripDialect().str();
  return names;
}

TEST(SumToType, LeavesEqualTypesAlone) { EXPECT_EQ(sumBack({8, 16}, {8, 16}), ""); }
TEST(SumToType, SumsOverAddedDimensions) { EXPECT_EQ(sumBack({2, 8, 16}, {16}), "reduce_sum"); }
TEST(SumToType, GivesStretchedDimensionsBackAsOnes) {
  EXPECT_EQ(sumBack({8, 16}, {8, 1}), "reduce_sum reshape");
  EXPECT_EQ(sumBack({2, 8, 16}, {1, 16}), "reduce_sum reshape");
}
TEST(SumToType, SumsAllOfItForAScalar) { EXPECT_EQ(sumBack({8, 16}, {}), "reduce_sum"); }
// A dimension of 1 that was 1 before is not summed over.
TEST(SumToType, KeepsOnesThatWereThere) { EXPECT_EQ(sumBack({8, 1, 16}, {1, 16}), "reduce_sum"); }

} // namespace
} // namespace burin::test
