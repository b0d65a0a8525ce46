// Computing products again takes less memory and changes no result.
#include "tests/stages/small_model.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"
#include "tests/support/program.h"
#include "gtest/gtest.h"

namespace burin::test {
namespace {

TEST(Recompute, ProductsTakeLessMemoryAndChangeNothing) {
  for (SmallModel model :
       {SmallModel{.name = "swiglu"}, SmallModel{.name = "gelu", .feed_forward = nn::FeedForward::gelu}}) {
    SCOPED_TRACE(model.name);
    model.layers = 4;
    model.hidden = 48;
    const Batch batch = {5, 33};
    StageOptions again;
    again.with = {"burin-recompute{products=true}"};
    const Program kept(imported(model, batch, "native")), repeated(imported(model, batch, "native"), again);
    const std::vector<Values> arguments = drawArguments(kept.joint("step"), model, 1);
    const Results expected = kept.run("step", arguments), actual = repeated.run("step", arguments);
    const std::vector<Slot> slots = resultsOf(kept.joint("step"));
    for (size_t i = 0; i < expected.size(); ++i)
      expectClose(actual[i], expected[i], 1e-5, slots[i].role + " " + slots[i].name);
    // A wide tensor less for each layer, but for the one at work and what its products need.
    const int64_t wide = batch.rows * batch.length * model.hidden * 4;
    EXPECT_LE(repeated.abi("step").bytes[BURIN_ARENA], kept.abi("step").bytes[BURIN_ARENA] - (model.layers - 2) * wide);
    // Where nothing is derived there is nothing to compute again.
    EXPECT_EQ(repeated.abi("loss").num_launches, kept.abi("loss").num_launches);
  }
}

} // namespace
} // namespace burin::test
