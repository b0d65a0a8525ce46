// Does the fuzzer see what it is there to see? Each test plants one bug into the compiler, by rewriting what a stage
// has made before the next one runs, and expects that the comparison with the reference finds it. Every plant leaves IR
// that the stages accept: no verifier helps.
#include <iostream>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/ir/burin.h"
#include "passes/ops/greater_equal.h"
#include "passes/ops/mul.h"
#include "passes/ops/sub.h"
#include "passes/plan/buffers.h"
#include "tests/fuzz/edit.h"
#include "tests/fuzz/session.h"
#include "gtest/gtest.h"

namespace burin::fuzz {
namespace {

using mlir::Operation;
using mlir::Value;

struct Plant {
  std::string name;
  std::string stage; // after which it is planted
  std::function<bool(const Case &)> suits;
  std::function<int(mlir::ModuleOp)> plant; // how many places
  bool odd_sizes = false;                   // what shows only where work is cut into blocks
};

void PrintTo(const Plant &plant, std::ostream *out) { *out << plant.name; }

bool is(Operation *op, llvm::StringRef mnemonic) { return op->getName().stripDialect() == mnemonic; }

std::function<bool(const Case &)> has(std::vector<std::string_view> mnemonics) {
  return [=](const Case &test) {
    return test.differentiate && llvm::all_of(mnemonics, [&](std::string_view mnemonic) {
             return llvm::any_of(test.graph.nodes, [&](const Node &node) { return node.mnemonic == mnemonic; });
           });
  };
}

bool isAttention(const Case &test) {
  return has({"softmax", "scale", "matmul"})(test) && llvm::any_of(test.graph.nodes, [&](const Node &node) {
           return node.mnemonic == "matmul" &&
                  test.graph.nodes[static_cast<size_t>(node.operands[0])].mnemonic == "softmax";
         });
}

// Attention over so many keys that they are taken in several blocks.
bool isLongAttention(const Case &test) {
  return isAttention(test) && llvm::any_of(test.graph.nodes, [](const Node &node) {
           return node.mnemonic == "softmax" && node.shape.back() > 100;
         });
}

// A product whose right side is square, so that it may be transposed by mistake.
bool hasSquareProduct(const Case &test) {
  return has({"matmul"})(test) && llvm::any_of(test.graph.nodes, [&](const Node &node) {
           if (node.mnemonic != "matmul")
             return false;
           const Shape &right = test.graph.nodes[static_cast<size_t>(node.operands[1])].shape;
           return right.back() >= 2 && right.back() == right.back(1);
         });
}

// Applies `change` to each op of that name, and counts those that it changed.
std::function<int(mlir::ModuleOp)> each(std::string mnemonic, std::function<bool(Operation *)> change) {
  return [=](mlir::ModuleOp module) {
    llvm::SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (is(op, mnemonic))
        ops.push_back(op);
    });
    return static_cast<int>(llvm::count_if(ops, change));
  };
}

mlir::RankedTensorType typeOf(Value value) { return mlir::cast<mlir::RankedTensorType>(value.getType()); }

// The backward part begins after the op that makes the loss.
bool isBackward(Operation *op) {
  auto function = op->getParentOfType<mlir::func::FuncOp>();
  Operation *loss = function.getBody().front().getTerminator()->getOperand(0).getDefiningOp();
  return loss && loss->getBlock() == op->getBlock() && loss->isBeforeInBlock(op);
}

bool wrongSign(Operation *scale) {
  auto factor = scale->getAttrOfType<mlir::FloatAttr>("factor");
  if (factor.getValueAsDouble() != -1 || !isBackward(scale))
    return false;
  scale->setAttr("factor", mlir::FloatAttr::get(factor.getType(), 1));
  return true;
}

bool swapOperands(Operation *op) {
  if (op->getOperand(0) == op->getOperand(1))
    return false;
  op->setOperands({op->getOperand(1), op->getOperand(0)});
  return true;
}

// A value that several ops read has the sum of their gradients; one is lost.
bool loseContribution(Operation *add) {
  if (!isBackward(add) || !add->getOperand(0).getDefiningOp() || !add->getOperand(1).getDefiningOp() ||
      add->getOperand(0).getType() != add->getResult(0).getType())
    return false;
  add->getResult(0).replaceAllUsesWith(add->getOperand(0));
  return true;
}

bool wrongEpsilon(Operation *norm) {
  auto eps = norm->getAttrOfType<mlir::FloatAttr>("eps");
  norm->setAttr("eps", mlir::FloatAttr::get(eps.getType(), 10 * eps.getValueAsDouble()));
  return true;
}

// A query no longer sees its own position.
bool strictMask(Operation *op) {
  auto seen = mlir::cast<GreaterEqualOp>(op);
  if (!mlir::getElementTypeOrSelf(seen->getOperand(0)).isInteger(32) ||
      llvm::none_of(op->getUsers(), [](Operation *user) { return is(user, "mask"); }))
    return false;
  mlir::OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  const Value query = op->getOperand(0), key = op->getOperand(1);
  Value reverse = GreaterEqualOp::create(b, op->getLoc(), key, query);
  Value same = MulOp::create(b, op->getLoc(), op->getResult(0), reverse);
  Value later = SubOp::create(b, op->getLoc(), op->getResult(0), same);
  op->getResult(0).replaceUsesWithIf(later, [](mlir::OpOperand &use) { return is(use.getOwner(), "mask"); });
  return true;
}

bool flipTransposition(Operation *matmul) {
  const auto shape = typeOf(matmul->getOperand(1)).getShape();
  if (shape.back() < 2 || shape.back() != shape[shape.size() - 2])
    return false;
  if (!matmul->removeAttr("transpose_b"))
    matmul->setAttr("transpose_b", mlir::UnitAttr::get(matmul->getContext()));
  return true;
}

bool dropScale(Operation *scale) {
  if (!is(scale->getParentOp(), "attention"))
    return false;
  scale->getResult(0).replaceAllUsesWith(scale->getOperand(0));
  return true;
}

// The gradient overwrites the former one though it should be added to it.
bool forgetFormerGradient(Operation *where) {
  if (llvm::none_of(where->getUsers(), [](Operation *user) { return user->hasTrait<mlir::OpTrait::IsTerminator>(); }) ||
      !isBackward(where))
    return false;
  where->setOperand(2, where->getOperand(1));
  return true;
}

// What starts a maximum is 0 and no longer minus infinity.
bool wrongIdentity(Operation *constant) {
  auto value = mlir::dyn_cast<mlir::FloatAttr>(mlir::cast<mlir::arith::ConstantOp>(constant).getValue());
  if (!value || !value.getType().isF32() || !value.getValue().isInfinity() || !value.getValue().isNegative())
    return false;
  constant->setAttr("value", mlir::FloatAttr::get(value.getType(), 0));
  return true;
}

bool exchangeResults(Operation *op) {
  auto group = mlir::cast<GroupOp>(op);
  Operation *yield = group.getBody().front().getTerminator();
  if (group.getKind() == "self")
    return false;
  for (unsigned i = 0; i + 1 < yield->getNumOperands(); ++i)
    for (unsigned j = i + 1; j < yield->getNumOperands(); ++j) {
      const Value x = yield->getOperand(i), y = yield->getOperand(j);
      if (x == y || x.getType() != y.getType())
        continue;
      yield->setOperand(i, y);
      yield->setOperand(j, x);
      return true;
    }
  return false;
}

bool loseCell(Operation *launch) {
  auto cells = launch->getAttrOfType<mlir::IntegerAttr>("cells");
  if (cells.getInt() < 2)
    return false;
  launch->setAttr("cells", mlir::IntegerAttr::get(cells.getType(), cells.getInt() - 1));
  return true;
}

bool overwriteInsteadOfAdding(Operation *contract) { return static_cast<bool>(contract->removeAttr("accumulate")); }

// Puts what one group makes on top of what a later group still has to read.
int overlapActivations(mlir::ModuleOp module) {
  int places = 0;
  module.walk([&](mlir::func::FuncOp entry) {
    llvm::SmallVector<GroupOp> groups(entry.getOps<GroupOp>());
    auto inArena = [](GroupOp group, unsigned output) {
      return group->getAttrOfType<mlir::DenseI64ArrayAttr>("burin.buffers")[group.getInputs().size() + output] ==
             arenaBuffer;
    };
    auto set = [](GroupOp group, unsigned slot, int64_t offset) {
      llvm::SmallVector<int64_t> offsets(group->getAttrOfType<mlir::DenseI64ArrayAttr>("burin.offsets").asArrayRef());
      offsets[slot] = offset;
      group->setAttr("burin.offsets", mlir::DenseI64ArrayAttr::get(group.getContext(), offsets));
    };
    for (size_t a = 0; a < groups.size(); ++a)
      for (auto [i, value] : llvm::enumerate(groups[a].getOutputs()))
        for (size_t c = a + 1; c < groups.size() && inArena(groups[a], static_cast<unsigned>(i)); ++c) {
          auto isRead = [&](GroupOp group) { return llvm::is_contained(group.getInputs(), value); };
          const bool readLater = llvm::any_of(llvm::ArrayRef(groups).drop_front(c + 1), isRead);
          if (!readLater || isRead(groups[c]))
            continue;
          for (auto [j, other] : llvm::enumerate(groups[c].getOutputs())) {
            if (!inArena(groups[c], static_cast<unsigned>(j)) || bytesOf(other.getType()) > bytesOf(value.getType()))
              continue;
            const int64_t offset = groups[a]->getAttrOfType<mlir::DenseI64ArrayAttr>(
                "burin.offsets")[static_cast<int64_t>(groups[a].getInputs().size() + i)];
            set(groups[c], static_cast<unsigned>(groups[c].getInputs().size() + j), offset);
            for (mlir::OpOperand &use : other.getUses())
              set(mlir::cast<GroupOp>(use.getOwner()), use.getOperandNumber(), offset);
            ++places;
            return;
          }
        }
  });
  return places;
}

const std::vector<Plant> plants = {
    {"WrongSignInAnAdjoint", "joint", has({"sub"}), each("scale", wrongSign)},
    {"SwappedOperandsOfSub", "fused", has({"sub"}), each("sub", swapOperands)},
    {"LostGradientContribution", "joint", has({"mul"}), each("add", loseContribution)},
    {"ForgottenFormerGradient", "joint", has({}), each("where", forgetFormerGradient)},
    {"WrongEpsilonOfRmsNorm", "fused", has({"rms_norm"}), each("rms_norm", wrongEpsilon)},
    {"MaskOffByOne", "imported", has({"mask", "greater_equal"}), each("greater_equal", strictMask)},
    {"FlippedTransposition", "fused", hasSquareProduct, each("matmul", flipTransposition)},
    {"MissingScaleInAttention", "fused", isAttention, each("scale", dropScale)},
    {"ExchangedResultsOfAGroup", "planned", has({"matmul"}), each("group", exchangeResults)},
    {"OverlappingActivations", "planned", has({"matmul"}), overlapActivations},
    {"LostCell", "tiled", has({"matmul"}), each("launch", loseCell)},
    {"WrongIdentityOfAMaximum", "tiled", has({"reduce_max"}), each("constant", wrongIdentity)},
    {"ContractionThatOverwrites", "tiled", isLongAttention, each("contract", overwriteInsteadOfAdding), true},
};

class Planted : public testing::TestWithParam<Plant> {};

TEST_P(Planted, IsCaught) {
  constexpr uint64_t seed = 7;
  constexpr size_t wanted = 4;
  const Plant &plant = GetParam();
  Counts counts;
  const DrawOptions options{.odd_sizes = plant.odd_sizes};
  std::vector<std::unique_ptr<Drawn>> drawn;
  std::vector<const Case *> cases;
  std::vector<const Truth *> truths;
  for (int64_t index = 0; drawn.size() < wanted && index < 1000; ++index) {
    const std::optional<Case> test = drawAttempt(seed, index, 0, options);
    if (!test || !plant.suits(*test))
      continue;
    Truth truth(*test);
    if (truth.verdict() != Truth::Verdict::fine)
      continue;
    ASSERT_EQ(truth.contradiction(), "");
    drawn.push_back(std::make_unique<Drawn>(Drawn{*test, std::move(truth)}));
    cases.push_back(&drawn.back()->test);
    truths.push_back(&drawn.back()->truth);
  }
  ASSERT_EQ(drawn.size(), wanted);

  const std::vector<Finding> sound = check(cases, truths, {}, counts);
  for (size_t i = 0; i < sound.size(); ++i)
    EXPECT_EQ(sound[i].fault, Fault::none) << "without a bug\n" << text(cases[i]->graph) << sound[i].text;

  int places = 0;
  Compilation broken;
  broken.plant = [&](const Stage &stage, mlir::ModuleOp module) {
    if (stage.name == plant.stage)
      places += plant.plant(module);
  };
  const std::vector<Finding> found = check(cases, truths, broken, counts);
  ASSERT_GT(places, 0) << "none of the graphs has a place for it";
  const auto caught = llvm::count_if(found, [](const Finding &finding) { return finding.fault == Fault::numbers; });
  std::cout << plant.name << ": planted in " << places << " places, seen in " << caught << " of " << found.size()
            << " graphs\n";
  EXPECT_GT(caught, 0);
}

INSTANTIATE_TEST_SUITE_P(Bugs, Planted, testing::ValuesIn(plants), [](const auto &info) { return info.param.name; });

} // namespace
} // namespace burin::fuzz
