// Every registered op has an adjoint or is marked without, a cost, exactly one tile form, and a test with a reference.
#include <map>

#include "passes/ir/burin.h"
#include "tests/support/op_test.h"
#include "tests/support/program.h"
#include "gtest/gtest.h"

namespace burin::test {

namespace {

// The structural words, which are no ops of a model: passes/ir/words.td.
bool isWord(llvm::StringRef name) {
  return llvm::is_contained({GroupOp::getOperationName(), YieldOp::getOperationName(), CopyOp::getOperationName(),
                             PackPanelsOp::getOperationName(), ProductOp::getOperationName(),
                             LaunchOp::getOperationName(), ContractOp::getOperationName(), PackOp::getOperationName(),
                             SwapLanesOp::getOperationName()},
                            name);
}

std::vector<mlir::RegisteredOperationName> modelOps() {
  std::vector<mlir::RegisteredOperationName> ops;
  for (mlir::RegisteredOperationName name : context().getRegisteredOperationsByDialect("burin"))
    if (!isWord(name.getStringRef()))
      ops.push_back(name);
  return ops;
}

TEST(RegisteredOps, AreThere) { EXPECT_GT(modelOps().size(), 26u); }

TEST(RegisteredOps, HaveAnAdjointOrAreMarkedWithout) {
  for (mlir::RegisteredOperationName op : modelOps())
    EXPECT_NE(op.hasInterface<Differentiable>(), op.hasTrait<NoDerivative>()) << op.getStringRef().str();
}

TEST(RegisteredOps, HaveACost) {
  for (mlir::RegisteredOperationName op : modelOps())
    EXPECT_TRUE(op.hasInterface<Costed>()) << op.getStringRef().str();
}

// A reduction may expand where it runs over dimensions that one pass cannot join, a product where it is far deeper than
// wide; every other op is tiled in one way alone.
TEST(RegisteredOps, HaveOneTileForm) {
  for (mlir::RegisteredOperationName op : modelOps()) {
    const int direct = op.hasInterface<Elementwise>() + op.hasInterface<Reduction>() + op.hasInterface<Contraction>() +
                       op.hasInterface<View>() + op.hasInterface<SelfTiled>() + op.hasInterface<RowPermuting>();
    const bool expands = op.hasInterface<Expandable>();
    const bool mayDoBoth = op.hasInterface<Reduction>() || op.hasInterface<Contraction>();
    EXPECT_TRUE(direct + expands == 1 || (direct == 1 && expands && mayDoBoth)) << op.getStringRef().str();
  }
}

TEST(RegisteredOps, HaveATestWithAReference) {
  std::map<std::string, const OpTest *> tests;
  for (const OpTest *test : OpTest::all())
    tests[test->mnemonic] = test;
  for (mlir::RegisteredOperationName op : modelOps()) {
    const std::string mnemonic = op.stripDialect().str();
    ASSERT_TRUE(tests.contains(mnemonic)) << "tests/ops/" << mnemonic << "_test.cpp is missing";
    EXPECT_FALSE(tests.at(mnemonic)->cases().empty()) << mnemonic << " has no cases";
  }
}

} // namespace
} // namespace burin::test
