// one_hot: 1 at the class that each row names.
#include "passes/ops/one_hot.h"
#include "passes/ir/infer.h"
#include "passes/ops/scalar.h"

using namespace mlir;

namespace burin {

namespace {
struct OneHot {
  static constexpr std::string_view mnemonic = "one_hot";
  int64_t classes;

  Shape shape(const Shape &ids) const {
    check(ids.rank() >= 1 && ids.back() == 1, "ids must be a column, [..., 1]", "ids", ids);
    check(classes >= 1, "there must be at least one class", "classes", classes);
    Shape result = ids;
    result[result.rank() - 1] = classes;
    return result;
  }
  static Dtype dtype(Dtype ids) {
    check(ids == Dtype::i32, "ids must be i32", "ids", ids);
    return Dtype::i32;
  }
  Cost cost(const Shape &ids) const { return {.other = shape(ids).size()}; }
};
} // namespace

template <typename Op> static OneHot rule(Op op) { return {.classes = int64_t(op.getClasses())}; }

Value OneHotOp::scalar(OpBuilder &b, Location loc, ValueRange operands, function_ref<Value()> lane) {
  const Scalar id(b, loc, operands[0]);
  return (id == id.make<arith::IndexCastOp>(b.getI32Type(), lane())).asMask();
}

} // namespace burin

#include "passes/ops/one_hot.inc"
