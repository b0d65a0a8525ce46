// Places and scopes are read back from whatever locations passes make.
#include "passes/ir/place.h"

#include <gtest/gtest.h>

#include "mlir/IR/Builders.h"

namespace burin {
namespace {

using namespace mlir;

struct PlaceTest : testing::Test {
  MLIRContext context;
  Location layer = FileLineColLoc::get(&context, "dsl/nn/linear.h", 12, 3),
           model = FileLineColLoc::get(&context, "models/gpt.cpp", 41, 15);
  Location imported = NameLoc::get(StringAttr::get(&context, "layers.0.attn"), CallSiteLoc::get(layer, model));
};

TEST_F(PlaceTest, IsTheModelsLine) {
  EXPECT_EQ(place(imported), "models/gpt.cpp:41");
  EXPECT_EQ(scope(imported), "layers.0.attn");
}

TEST_F(PlaceTest, OfFusedOpsIsTheFirstKnown) {
  const Location fused = FusedLoc::get(&context, {UnknownLoc::get(&context), imported});
  EXPECT_EQ(place(fused), "models/gpt.cpp:41");
  EXPECT_EQ(scope(fused), "layers.0.attn");
}

TEST_F(PlaceTest, IsEmptyWhereNothingIsKnown) {
  EXPECT_EQ(place(UnknownLoc::get(&context)), "");
  EXPECT_EQ(scope(model), "");
}

} // namespace
} // namespace burin
