// The course's family: its constants, its six variants, and that a deep one still is a constant expression.
#include "../../models/cs336.cpp"

#include "support.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace {

using burin::Graph;

constexpr Gpt deep = {.layers = 48};

// A deep model checks within the raised limits, its duplicate names included.
static_assert(burin::parameters(declare(deep, {4, 64})) == 48 * 803'328 + 2 * 65'536 + 256);

constexpr int64_t rows = 16 * 128, matrices = 4 * (4 * 256 * 256 + 3 * 704 * 256) + 256 * 256;
// Of each layer's two products with the scores: 2 * (batch * length) * length * width.
constexpr int64_t attention = 4 * 2 * (2 * rows * 128 * 256);

static_assert(burin::flops_full_attention(declare(Gpt{}, {16, 128})) == 3 * (2 * rows * matrices + attention));
static_assert(burin::flops(declare(Gpt{}, {16, 128})) == 3 * (2 * rows * matrices + attention * 129 / 256));
static_assert(burin::state_bytes(declare(Gpt{}, {16, 128})) == 8 * 3'344'640);

int64_t parametersOf(std::string_view name) {
  for (const burin::Model &model : burin::registry())
    if (model.name == name)
      return burin::parameters(model.declare({2, 128}));
  ADD_FAILURE() << "no model " << name;
  return 0;
}

TEST(Cs336, HasTheVariantsOfTheAblation) {
  EXPECT_EQ(burin::registry().size(), 6u);
  EXPECT_EQ(parametersOf("cs336"), 3'344'640);
  EXPECT_EQ(parametersOf("cs336_no_positions"), 3'344'640);
  EXPECT_EQ(parametersOf("cs336_no_norm"), 3'344'640 - 9 * 256);
  EXPECT_EQ(parametersOf("cs336_post_norm"), 3'344'640);
  EXPECT_EQ(parametersOf("cs336_gelu_1024"), 3'344'640 - 4 * (3 * 704 - 2 * 1024) * 256);
  EXPECT_EQ(parametersOf("cs336_gelu_704"), 3'344'640 - 4 * 704 * 256);
}

TEST(Cs336, RemembersWhereItIsRegistered) {
  const burin::Model &model = burin::registry().front();
  EXPECT_STREQ(model.name, "cs336");
  EXPECT_TRUE(model.place.file.ends_with("models/cs336.cpp")) << model.place.file;
}

TEST(Cs336, NamesWhatIsNotInALayer) {
  const Graph graph = declare(Gpt{}, {2, 8});
  EXPECT_EQ(burin::test::nodeNamed(graph, "token_embeddings.weight").shape, (burin::Shape{256, 256}));
  EXPECT_EQ(burin::test::nodeNamed(graph, "token_embeddings.weight").init.std, 1);
  EXPECT_TRUE(burin::test::nodeNamed(graph, "token_embeddings.weight").decay);
  EXPECT_FALSE(burin::test::nodeNamed(graph, "ln_final.weight").decay);
  EXPECT_EQ(burin::test::nodeNamed(graph, "lm_head.weight").shape, (burin::Shape{256, 256}));
  EXPECT_EQ(burin::test::nodeNamed(graph, "tokens").shape, (burin::Shape{2, 8}));
  EXPECT_EQ(graph.nodes[graph.findOutput("logits")->node].shape, (burin::Shape{2, 8, 256}));
}

// At run time too, and with the place of the variant for a rule that is about the whole declaration.
TEST(Cs336, RefusesABatchBeyondItsContext) {
  try {
    burin::registry().front().declare({2, 129});
    FAIL();
  } catch (const burin::ModelError &error) {
    EXPECT_EQ(error.message(),
              "the length of a batch must not exceed the context of the model: length is 129, context is 128");
    EXPECT_EQ(error.where(), burin::registry().front().place);
  }
}

} // namespace
