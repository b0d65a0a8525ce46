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

TEST(RegisteredOps, HaveOneTileForm) {
  for (mlir::RegisteredOperationName op : modelOps()) {
    const int forms = op.hasInterface<Elementwise>() + op.hasInterface<Expandable>() + op.hasInterface<Reduction>() +
                      op.hasInterface<Contraction>() + op.hasInterface<View>() + op.hasInterface<SelfTiled>();
    // A reduction over other dimensions than the two forms that grouping knows expands into those.
    const bool canonicalised = op.hasInterface<Reduction>() && op.hasInterface<Expandable>();
    EXPECT_EQ(forms - canonicalised, 1) << op.getStringRef().str();
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
