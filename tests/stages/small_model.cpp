// The family of small_model.h.
#include "tests/stages/small_model.h"

#include <algorithm>
#include <numeric>

#include "tests/support/compare.h"
#include "tests/support/gradient.h"
#include "gtest/gtest.h"

namespace burin::test {

Graph SmallModel::declare(Batch batch) const {
  Graph graph;
  const Tensor tokens = graph.input("tokens", {batch.rows, batch.length}, Dtype::i32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor targets = graph.input("targets", {batch.rows, batch.length}, Dtype::i32);
  const Tensor table =
      graph.parameter("token_embeddings.weight", {vocab, width}, truncatedNormal(1, 3), /*decay=*/true);
  Tensor x = embedding(table, tokens);
  const nn::Linear linear{.bias = classic};
  const nn::NormKind kind = classic ? nn::NormKind::layer : nn::NormKind::rms;
  const double rate = classic ? 0.2 : 0;
  nn::Dropout dropout = nn::dropout_inputs(graph, batch.rows, positions, std::max(rate, attention_dropout));
  nn::Dropout ofWeights = dropout;
  dropout.rate = rate;
  ofWeights.rate = attention_dropout;
  std::optional<Tensor> valid;
  if (padded)
    valid = graph.input("valid", {batch.rows, batch.length}, Dtype::i32);
  const nn::Block block{.attention = {.heads = heads,
                                      .kv_heads = grouped ? heads / 2 : heads,
                                      .rope_theta = rope_theta,
                                      .rope_half_split = grouped,
                                      .qk_norm = grouped,
                                      .softcap = grouped ? std::optional(2.0) : std::nullopt,
                                      .valid = valid,
                                      .dropout = ofWeights,
                                      .fused_qkv = classic,
                                      .projection = linear,
                                      .output = linear},
                        .norm = norm,
                        .norm_kind = kind,
                        .feed_forward = feed_forward,
                        .hidden = hidden,
                        .gelu = {.in = linear, .out = linear},
                        .dropout = dropout};
  if (classic)
    x = nn::dropout(add(x, nn::learned_positions(positions, batch.length, width, "position_embeddings")), dropout,
                    "dropout");
  for (int64_t i = 0; i < layers; ++i)
    x = nn::transformer_block(x, positions, block, Scope("layers") / i);
  if (norm != nn::Norm::none)
    x = nn::norm(x, kind, "ln_final");
  const Tensor logits = tied ? matmul(x, table, {.transpose_b = true}) : nn::linear(x, vocab, "lm_head");
  graph.output("logits", logits);
  graph.output("loss", cross_entropy(logits, targets));
  return graph;
}

std::vector<SmallModel> smallModels() {
  return {{},
          {.name = "no_positions", .rope_theta = std::nullopt},
          {.name = "no_norm", .norm = nn::Norm::none},
          {.name = "post_norm", .norm = nn::Norm::post},
          {.name = "gelu", .feed_forward = nn::FeedForward::gelu},
          {.name = "tied", .tied = true},
          {.name = "grouped", .width = 16, .heads = 4, .grouped = true},
          {.name = "padded", .padded = true},
          {.name = "grouped_dropout", .width = 16, .heads = 4, .grouped = true, .attention_dropout = 0.3},
          {.name = "classic",
           .rope_theta = std::nullopt,
           .feed_forward = nn::FeedForward::gelu,
           .tied = true,
           .classic = true,
           .attention_dropout = 0.1}};
}

mlir::OwningOpRef<mlir::ModuleOp> imported(const SmallModel &model, Batch batch, const std::string &cpu) {
  ModelDeclaration declaration{.name = model.name,
                               .declare = [&](Batch asked) { return model.declare(asked); },
                               .batch = batch,
                               .target = (*emptyModule(cpu))->getAttrOfType<TargetAttr>("burin.target"),
                               .revision = "test"};
  mlir::OwningOpRef<mlir::ModuleOp> module = importModel(context(), declaration);
  if (!module)
    throw std::runtime_error("the model " + model.name + " cannot be imported");
  return module;
}

namespace {

// 1 for each token of sequences [rows, length] that is no padding.
Values validTokens(const std::vector<int64_t> &shape) {
  const int64_t rows = shape[0], length = shape[1];
  Values valid(shape, 1);
  for (int64_t i = 0; i < rows * length; ++i)
    if (i == 0 || i == length - 1 || (rows > 1 && i >= (rows - 1) * length))
      valid[i] = 0;
  return valid;
}

} // namespace

std::vector<Values> drawArguments(mlir::func::FuncOp entry, const SmallModel &model, uint64_t seed) {
  Random random(seed);
  std::vector<Values> arguments;
  for (const Slot &slot : argumentsOf(entry)) {
    if (slot.name == "positions") {
      arguments.emplace_back(slot.shape);
      std::iota(arguments.back().data.begin(), arguments.back().data.end(), 0.0);
    } else if (slot.name == "valid") {
      arguments.push_back(validTokens(slot.shape));
    } else if (slot.integers) {
      // A key of 0 would turn dropout off.
      arguments.push_back(randomIntegers(random, slot.shape, slot.name == "dropout_key", model.vocab));
      if (slot.name == "targets") {
        arguments.back()[0] = -1;
        const Values valid = validTokens(slot.shape);
        for (int64_t i = 0; model.padded && i < valid.size(); ++i)
          if (valid[i] == 0)
            arguments.back()[i] = -1;
      }
    } else if (slot.name.find("ln") != std::string::npos) {
      arguments.push_back(randomReals(random, slot.shape, 0.5, 1.5)); // gains
    } else {
      arguments.push_back(randomReals(random, slot.shape, -0.6, 0.6));
    }
  }
  return arguments;
}

void expectTheEvaluatorsResults(const Program &program, const SmallModel &model) {
  for (const std::string name : {"loss", "logits", "step"}) {
    mlir::func::FuncOp joint = program.joint(name);
    const std::vector<Values> arguments = drawArguments(joint, model, 7);
    const Results expected = evaluate(joint, arguments), actual = program.run(name, arguments),
                  cut = program.run(name, arguments, Cut::single);
    const std::vector<Slot> slots = resultsOf(joint);
    for (size_t i = 0; i < expected.size(); ++i) {
      expectClose(actual[i], expected[i], 2e-5,
                  name + ": " + (slots[i].role == "gradient" ? "gradient of " : "") + slots[i].name);
      EXPECT_EQ(actual[i].data, cut[i].data) << name << ": " << slots[i].name << " depends on how the cells are cut";
    }
  }
}

} // namespace burin::test
