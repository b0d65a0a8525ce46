// Each kind of case, declared with the DSL and run through the compiled code. lr_cosine and get_batch have nothing to
// compile; the runtime's functions answer for them.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <optional>
#include <unistd.h>

#include "data/loader.h"
#include "data/text_file.h"
#include "passes/import/import.h"
#include "store/safetensors.h"
#include "tests/cs336/pack.h"
#include "tests/support/gradient.h"
#include "tests/support/program.h"
#include "train/schedule.h"

namespace burin::test {

namespace {

using Named = std::map<std::string, Values>;

Shape shapeOf(const Values &values) {
  Shape shape;
  for (int64_t size : values.shape)
    shape.append(size);
  return shape;
}

// Values for an entry's arguments by name; what is not named is 0, loss_scale 1.
std::vector<Values> argumentsFor(mlir::func::FuncOp joint, const Named &known) {
  std::vector<Values> arguments;
  for (const Slot &slot : argumentsOf(joint)) {
    auto found = known.find(slot.name);
    if (slot.role == "gradient" || found == known.end())
      arguments.emplace_back(slot.shape, slot.name == "loss_scale" ? 1.0 : 0.0);
    else if (found->second.shape == slot.shape)
      arguments.push_back(found->second);
    else
      throw std::runtime_error("'" + slot.name + "' has shape " + describe(found->second.shape) + ", the graph wants " +
                               describe(slot.shape));
    if (found == known.end() && slot.role == "parameter")
      throw std::runtime_error("no values for the parameter '" + slot.name + "'");
  }
  return arguments;
}

// What an entry returns, by name; gradients as "d name".
Named run(const Program &program, const std::string &entry, const Named &known) {
  const Results results = program.run(entry, argumentsFor(program.joint(entry), known));
  Named named;
  const std::vector<Slot> slots = resultsOf(program.joint(entry));
  for (size_t i = 0; i < slots.size(); ++i)
    named[(slots[i].role == "gradient" ? "d " : "") + slots[i].name] = results[i];
  return named;
}

std::unique_ptr<Program> compiled(const Graph &graph, const EntryOptions &options) {
  mlir::OwningOpRef<mlir::ModuleOp> module = emptyModule("native");
  if (!importGraph(*module, graph, ParameterLayout(graph), options))
    throw std::runtime_error("the graph cannot be imported");
  return std::make_unique<Program>(std::move(module));
}

Values evaluateCompiled(const Graph &graph, const Named &known) {
  return run(*compiled(graph, {.name = "forward"}), "forward", known).at("out");
}

// A graph of one op or layer: its inputs are the named arrays; `integers` are the names of those that are i32.
Values apply(const Named &inputs, const std::vector<std::string> &integers,
             const std::function<Tensor(std::map<std::string, Tensor> &)> &build, Named weights = {}) {
  Graph graph;
  std::map<std::string, Tensor> in;
  for (const auto &[name, values] : inputs) {
    const bool isInteger = std::find(integers.begin(), integers.end(), name) != integers.end();
    in[name] = graph.input(name.c_str(), shapeOf(values), isInteger ? Dtype::i32 : Dtype::f32);
  }
  graph.output("out", build(in));
  weights.insert(inputs.begin(), inputs.end());
  return evaluateCompiled(graph, weights);
}

Values firstPositions(int64_t length) {
  Values positions({length});
  std::iota(positions.data.begin(), positions.data.end(), 0.0);
  return positions;
}

// Positions of one row stand for all rows.
Values repeated(const Values &positions, int64_t batch) {
  if (positions.rank() != 2 || positions.shape[0] == batch)
    return positions;
  Values all({batch, positions.width()});
  for (int64_t i = 0; i < all.size(); ++i)
    all[i] = positions[i % positions.width()];
  return all;
}

// --- ops
// -----------------------------------------------------------------------------------------------------------------------

void linear(const PackCase &c) {
  c.compare("out",
            apply({{"x", c.input("x")}, {"weight", c.input("weight")}}, {},
                  [](auto &in) { return matmul(in["x"], in["weight"], {.transpose_b = true}); }),
            c.expected("out"));
}

void embeddingCase(const PackCase &c) {
  c.compare("out",
            apply({{"weight", c.input("weight")}, {"ids", c.input("ids")}}, {"ids"},
                  [](auto &in) { return embedding(in["weight"], in["ids"]); }),
            c.expected("out"));
}

void rmsNorm(const PackCase &c) {
  const double eps = c.parameter("eps");
  c.compare("out",
            apply({{"x", c.input("x")}, {"gain", c.input("gain")}}, {},
                  [=](auto &in) { return rms_norm(in["x"], in["gain"], {.eps = eps}); }),
            c.expected("out"));
}

void siluCase(const PackCase &c) {
  c.compare("out", apply({{"x", c.input("x")}}, {}, [](auto &in) { return silu(in["x"]); }), c.expected("out"));
}

void softmaxCase(const PackCase &c) {
  for (const auto &[name, entry] : c.json.at("inputs").items()) {
    const Values x = c.input(name);
    int64_t dim = c.integer("dim");
    dim = dim < 0 ? dim + x.rank() : dim;
    // Another dimension than the last is brought there and back.
    Shape swap;
    for (int64_t i = 0; i < x.rank(); ++i)
      swap.append(i == dim ? x.rank() - 1 : i == x.rank() - 1 ? dim : i);
    const bool last = dim == x.rank() - 1;
    c.compare(
        "softmax of " + name,
        apply({{"x", x}}, {},
              [&](auto &in) { return last ? softmax(in["x"]) : transpose(softmax(transpose(in["x"], swap)), swap); }),
        c.expected("out"));
  }
}

void crossEntropy(const PackCase &c) {
  for (const auto &[logits, expected] : {std::pair("logits", "out"), std::pair("logits_x1000", "x1000")}) {
    if (!c.hasInput(logits))
      continue;
    const Values targets = c.input("targets");
    Values loss = apply({{"logits", c.input(logits)}, {"targets", targets}}, {"targets"},
                        [](auto &in) { return cross_entropy(in["logits"], in["targets"]); });
    // The op sums; the program divides.
    loss[0] /= static_cast<double>(targets.size());
    c.compare(expected, loss, c.expected(expected));
  }
}

void ropeCase(const PackCase &c) {
  const double theta = c.parameter("theta");
  const Values x = c.input("x"), positions = c.input("positions");
  const auto op = [=](auto &in) { return rope(in["x"], in["positions"], {.theta = theta}); };
  c.compare("out", apply({{"x", x}, {"positions", repeated(positions, x.shape[0])}}, {"positions"}, op),
            c.expected("out"));
  // The same positions given for each row of the batch.
  if (positions.rank() == 1) {
    const Values batched = repeated(Values({1, positions.size()}, positions.data), x.shape[0]);
    c.compare("out with batched positions", apply({{"x", x}, {"positions", batched}}, {"positions"}, op),
              c.expected("out"));
  }
}

void attentionOfAnyMask(const PackCase &c) {
  const Values q = c.input("q");
  Named inputs{{"q", q}, {"k", c.input("k")}, {"v", c.input("v")}};
  const bool masked = c.hasInput("mask");
  if (masked)
    inputs["mask"] = c.input("mask");
  c.compare("out",
            apply(inputs, {"mask"},
                  [&](auto &in) {
                    const Tensor scores = scale(matmul(in["q"], in["k"], {.transpose_b = true}),
                                                1 / std::sqrt(static_cast<double>(q.width())));
                    return matmul(softmax(masked ? mask(scores, in["mask"]) : scores), in["v"]);
                  }),
            c.expected("out"));
}

// --- layers, from dsl/nn
// -------------------------------------------------------------------------------------------------------

void swigluCase(const PackCase &c) {
  const int64_t hidden = c.integer("d_ff");
  c.compare(
      "out",
      apply({{"x", c.input("x")}}, {}, [=](auto &in) { return nn::swiglu(in["x"], hidden, "ffn"); },
            {{"ffn.w1.weight", c.input("w1")}, {"ffn.w2.weight", c.input("w2")}, {"ffn.w3.weight", c.input("w3")}}),
      c.expected("out"));
}

std::optional<double> thetaOf(const PackCase &c) {
  return c.hasParameter("rope_theta") ? std::optional(c.parameter("rope_theta")) : std::nullopt;
}

void multiHeadAttention(const PackCase &c) {
  const Values x = c.input("x");
  const Values positions =
      c.hasInput("positions") ? repeated(c.input("positions"), x.shape[0]) : firstPositions(x.shape[1]);
  c.compare("out",
            apply({{"x", x}, {"positions", positions}}, {"positions"},
                  [&](auto &in) {
                    return nn::attention(in["x"], in["positions"],
                                         {.heads = c.integer("num_heads"), .rope_theta = thetaOf(c)}, "attn");
                  },
                  {{"attn.q_proj.weight", c.input("wq")},
                   {"attn.k_proj.weight", c.input("wk")},
                   {"attn.v_proj.weight", c.input("wv")},
                   {"attn.output_proj.weight", c.input("wo")}}),
            c.expected("out"));
}

nn::Block blockOf(const PackCase &c, nn::FeedForward feedForward) {
  return {.attention = {.heads = c.integer("num_heads"), .rope_theta = thetaOf(c)},
          .norm = nn::Norm::pre,
          .feed_forward = feedForward,
          .hidden = c.integer("d_ff")};
}

// A feed-forward layer through the error function, as the 2024 edition has it; the DSL's own layer takes the form by
// tanh by default.
Tensor block2024(Tensor x, Tensor positions, const PackCase &c, const Scope &scope) {
  const Scope attn = scope / "attn", ffn = scope / "ffn", ln1 = scope / "ln1", ln2 = scope / "ln2";
  x = add(x, nn::attention(nn::rms_norm(x, ln1), positions,
                           {.heads = c.integer("num_heads"), .rope_theta = std::nullopt}, attn));
  return add(x, nn::gelu_feed_forward(nn::rms_norm(x, ln2), c.integer("d_ff"), ffn, {.gelu = {.approximate = false}}));
}

// Weights of a block alone, in a scope that a parameter's name needs.
Named inScope(const std::string &scope, const Named &weights) {
  Named scoped;
  for (const auto &[name, values] : weights)
    scoped[scope + "." + name] = values;
  return scoped;
}

void transformerBlock(const PackCase &c) {
  const Values x = c.input("x");
  c.compare("out",
            apply(
                {{"x", x}, {"positions", firstPositions(x.shape[1])}}, {"positions"},
                [&](auto &in) {
                  return nn::transformer_block(in["x"], in["positions"], blockOf(c, nn::FeedForward::swiglu), "block");
                },
                inScope("block", c.inputs("weights"))),
            c.expected("out"));
}

void transformerBlock2024(const PackCase &c) {
  const Values x = c.input("x");
  c.compare("out",
            apply(
                {{"x", x}, {"positions", firstPositions(x.shape[1])}}, {"positions"},
                [&](auto &in) { return block2024(in["x"], in["positions"], c, "block"); },
                inScope("block", c.inputs("weights"))),
            c.expected("out"));
}

struct LanguageModel {
  int64_t vocab, width, layers, heads, hidden;
  std::optional<double> theta;
};

// The case's own numbers where it has them, else those of the pack's surrogate model.
LanguageModel languageModelOf(const PackCase &c) {
  auto number = [&](const char *name, int64_t otherwise) { return c.hasParameter(name) ? c.integer(name) : otherwise; };
  return {.vocab = number("vocab_size", 10000),
          .width = number("d_model", 64),
          .layers = number("num_layers", 3),
          .heads = number("num_heads", 4),
          .hidden = number("d_ff", 128),
          .theta = c.hasParameter("rope_theta") ? c.parameter("rope_theta") : 1e4};
}

Graph declare(const LanguageModel &m, Batch batch) {
  Graph graph;
  const Tensor tokens = graph.input("tokens", {batch.rows, batch.length}, Dtype::i32),
               positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor targets = graph.input("targets", {batch.rows, batch.length}, Dtype::i32);
  Tensor x = nn::embedding(tokens, m.vocab, m.width, "token_embeddings");
  for (int64_t i = 0; i < m.layers; ++i)
    x = nn::transformer_block(x, positions,
                              {.attention = {.heads = m.heads, .rope_theta = m.theta}, .hidden = m.hidden},
                              Scope("layers") / i);
  const Tensor logits = nn::linear(nn::rms_norm(x, "ln_final"), m.vocab, "lm_head");
  graph.output("out", logits);
  graph.output("loss", cross_entropy(logits, targets));
  return graph;
}

Named withIds(const PackCase &c) {
  Named known = c.inputs("weights");
  const Values ids = c.input("ids");
  known["tokens"] = ids;
  known["positions"] = firstPositions(ids.width());
  return known;
}

void transformerLm(const PackCase &c) {
  const Values ids = c.input("ids");
  const Graph graph = declare(languageModelOf(c), {ids.shape[0], ids.shape[1]});
  c.compare("out", run(*compiled(graph, {.name = "forward", .outputs = {"out"}}), "forward", withIds(c)).at("out"),
            c.expected("out"));
}

void transformerLmLossAndGradients(const PackCase &c) {
  const Values ids = c.input("ids");
  const Graph graph = declare(languageModelOf(c), {ids.shape[0], ids.shape[1]});
  Named known = withIds(c);
  known["targets"] = c.input("targets");
  known["loss_scale"] = Values::scalar(1 / static_cast<double>(ids.size()));
  Named seen = run(*compiled(graph, {.name = "step", .outputs = {"loss"}, .differentiate = true}), "step", known);
  seen.at("loss")[0] /= static_cast<double>(ids.size());
  c.compare("loss", seen.at("loss"), c.expected("loss"));
  for (const auto &[name, gradient] : c.allExpected("grads"))
    c.compare("the gradient of " + name, seen.at("d " + name), gradient);
}

void transformerLm2024(const PackCase &c) {
  const Values ids = c.input("ids");
  const LanguageModel m = languageModelOf(c);
  Named known = withIds(c);
  Graph graph;
  const Tensor tokens = graph.input("tokens", shapeOf(ids), Dtype::i32),
               positions = graph.input("positions", {ids.width()}, Dtype::i32);
  // (batch, length, width) + (length, width): learned positions.
  Tensor x = add(nn::embedding(tokens, m.vocab, m.width, "token_embeddings"),
                 nn::embedding(positions, c.integer("context_length"), m.width, "position_embeddings"));
  for (int64_t i = 0; i < m.layers; ++i)
    x = block2024(x, positions, c, Scope("layers") / i);
  graph.output("out", nn::linear(nn::rms_norm(x, "ln_final"), m.vocab, "lm_head"));
  c.compare("out", evaluateCompiled(graph, known), c.expected("out"));
}

// --- training
// ------------------------------------------------------------------------------------------------------------------

// A whole model, for its `update`: the gradients come from the case.
std::unique_ptr<Program> trainable(const std::function<Graph(Batch)> &declare) {
  std::string error;
  ModelDeclaration model{.name = "test",
                         .declare = declare,
                         .batch = {1, 1},
                         .target = (*emptyModule("native"))->getAttrOfType<TargetAttr>("burin.target"),
                         .revision = "test"};
  mlir::OwningOpRef<mlir::ModuleOp> module = importModel(context(), model);
  if (!module)
    throw std::runtime_error("the model cannot be imported");
  return std::make_unique<Program>(std::move(module));
}

// The padded sections that `update` sees, gathered from and spread over tensors by name.
Values section(const ParameterLayout &layout, const ParameterLayout::Section &part, const Named &tensors) {
  Values rows({part.rows, ParameterLayout::rowElements});
  for (const auto &[name, values] : tensors) {
    const int64_t at = (layout.offsets.at(name) - part.offset) / 4;
    if (at >= 0 && at + values.size() <= rows.size())
      std::copy(values.data.begin(), values.data.end(), rows.data.begin() + at);
  }
  return rows;
}

Named spread(const ParameterLayout &layout, const ParameterLayout::Section &part, const Values &rows,
             const Named &like) {
  Named tensors;
  for (const auto &[name, values] : like) {
    const int64_t at = (layout.offsets.at(name) - part.offset) / 4;
    tensors[name] =
        Values(values.shape, std::vector<double>(rows.data.begin() + at, rows.data.begin() + at + values.size()));
  }
  return tensors;
}

// A model that is trained through its entries `step` and `update`, as a program does it. All its parameters decay.
class Training {
public:
  Training(const std::function<Graph(Batch)> &declare, Named initial)
      : program(trainable(declare)), layout(declare({})), weights(std::move(initial)) {
    if (layout.sections.size() != 1)
      throw std::runtime_error("the parameters lie in more than one section");
    state = {{"parameters.0", section(layout, layout.sections[0], weights)},
             {"moment1.0", Values({layout.sections[0].rows, ParameterLayout::rowElements})},
             {"moment2.0", Values({layout.sections[0].rows, ParameterLayout::rowElements})}};
  }

  // One step on a batch, with the optimizer's options of the case; its loss and gradients.
  Named step(const PackCase &c, const Named &batch) {
    ++steps;
    Named known = batch;
    known.insert(weights.begin(), weights.end());
    const Named seen = run(*program, "step", known);
    Named gradients;
    for (const auto &[name, weight] : weights)
      gradients[name] = seen.at("d " + name);

    const double beta1 = c.json["params"]["betas"][0], beta2 = c.json["params"]["betas"][1];
    Named update = state;
    update["gradients.0"] = section(layout, layout.sections[0], gradients);
    for (const auto &[name, value] : std::map<std::string, double>{{"lr", c.parameter("lr")},
                                                                   {"beta1", beta1},
                                                                   {"beta2", beta2},
                                                                   {"eps", c.parameter("eps")},
                                                                   {"weight_decay", c.parameter("weight_decay")},
                                                                   {"clip", 1e30},
                                                                   {"correction1", 1 - std::pow(beta1, steps)},
                                                                   {"correction2", 1 - std::pow(beta2, steps)}})
      update[name] = Values::scalar(value);
    // Gradients are an input of update, so they are named here rather than zeroed.
    std::vector<Values> arguments;
    for (const Slot &slot : argumentsOf(program->joint("update")))
      arguments.push_back(update.at(slot.name));
    const Results results = program->run("update", arguments);
    const std::vector<Slot> slots = resultsOf(program->joint("update"));
    for (size_t i = 0; i < slots.size(); ++i)
      state[slots[i].name] = results[i];
    weights = now("parameters.0");
    return seen;
  }

  // "parameters.0", "moment1.0" or "moment2.0", by the parameters' names.
  Named now(const std::string &what) const { return spread(layout, layout.sections[0], state.at(what), weights); }
  // Continues from what another run has reached.
  void set(const std::string &what, const Named &values) {
    state.at(what) = section(layout, layout.sections[0], values);
    weights = now("parameters.0");
  }
  int64_t steps = 0;

private:
  std::unique_ptr<Program> program;
  ParameterLayout layout;
  Named weights, state;
};

void adamwTraining(const PackCase &c) {
  const Values w0 = c.input("w0"), xs = c.input("xs");
  // loss = sum((y - w x)^2) of a linear map from 3 to 2
  Training training(
      [&](Batch) {
        Graph graph;
        const Tensor x = graph.input("x", {1, w0.shape[1]}, Dtype::f32),
                     y = graph.input("y", {1, w0.shape[0]}, Dtype::f32);
        const Tensor w = graph.parameter("w", shapeOf(w0), constant(0), /*decay=*/true);
        const Tensor error = sub(y, matmul(x, w, {.transpose_b = true}));
        graph.output("loss", reduce_sum(mul(error, error), {.dims = {0, 1}}));
        return graph;
      },
      {{"w", w0}});
  for (int64_t t = 1; t <= c.integer("steps"); ++t) {
    const double *x = xs.data.data() + (t - 1) * xs.width();
    training.step(c, {{"x", Values({1, 3}, {x[0], x[1], x[2]})}, {"y", Values({1, 2}, {x[0] + x[1], -x[2]})}});
    if (c.json["expected"].contains("after_step" + std::to_string(t)))
      c.compare("w after step " + std::to_string(t), training.now("parameters.0").at("w"),
                c.expected("after_step" + std::to_string(t)));
  }
  bool any = false;
  for (const char *final : {"final_decay_after", "final_decay_before", "final_pytorch"})
    any |= c.matches(training.now("parameters.0").at("w"), c.expected(final));
  if (!any)
    throw std::runtime_error("w after the last step is none of the three accepted results");
  c.compare("m", training.now("moment1.0").at("w"), c.expected("m_final"));
  c.compare("v", training.now("moment2.0").at("w"), c.expected("v_final"));
}

// A network of three layers is trained, saved, loaded into a fresh one, and both go on alike.
void checkpointRoundTrip(const PackCase &c) {
  const Values xs = c.input("xs"), ys = c.input("ys");
  const Named initial = c.inputs("params");
  const auto declareMlp = [&](Batch) {
    Graph graph;
    const Tensor x = graph.input("x", {1, xs.width()}, Dtype::f32), y = graph.input("y", {1, ys.width()}, Dtype::f32);
    Tensor h = x;
    for (const std::string layer : {"fc1", "fc2", "fc3"}) {
      const std::string weightName = layer + ".weight", biasName = layer + ".bias";
      const Tensor weight = graph.parameter(weightName.c_str(), shapeOf(initial.at(weightName)), constant(0), true);
      const Tensor bias = graph.parameter(biasName.c_str(), shapeOf(initial.at(biasName)), constant(0), true);
      h = add(matmul(layer == "fc1" ? h : relu(h), weight, {.transpose_b = true}), bias);
    }
    const Tensor error = sub(h, y);
    graph.output("loss", reduce_sum(mul(error, error), {.dims = {0, 1}}));
    return graph;
  };
  const auto row = [](const Values &all, int64_t index) {
    const auto begin = all.data.begin() + index * all.width();
    return Values({1, all.width()}, std::vector<double>(begin, begin + all.width()));
  };
  const auto batch = [&](int64_t index) { return Named{{"x", row(xs, index)}, {"y", row(ys, index)}}; };

  Training training(declareMlp, initial);
  Values losses({c.integer("steps")});
  for (int64_t t = 0; t < losses.size(); ++t) {
    const Named seen = training.step(c, batch(t));
    losses[t] = seen.at("loss")[0];
    if (t == 0)
      for (const auto &[name, gradient] : c.allExpected("grads_step1"))
        c.compare("the first gradient of " + name, seen.at("d " + name), gradient);
  }
  std::optional<std::string> ours; // which of the two formulas of AdamW
  for (const std::string formula : {"", "_pytorch"}) {
    bool all = c.matches(losses, c.expected("losses" + formula));
    for (const auto &[name, values] : c.allExpected("params_final" + formula))
      all &= c.matches(training.now("parameters.0").at(name), values);
    if (all)
      ours = formula;
  }
  if (!ours)
    throw std::runtime_error("losses and parameters after the last step are of neither accepted formula");

  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("burin_cs336_" + std::to_string(getpid()) + ".safetensors");
  const std::vector<std::string> kinds = {"parameters.0", "moment1.0", "moment2.0"};
  std::vector<runtime::TensorSource> sources;
  for (const std::string &kind : kinds)
    for (const auto &[name, values] : training.now(kind))
      sources.push_back({kind + "/" + name, values.shape, [values = values](std::span<float> into) {
                           std::copy(values.data.begin(), values.data.end(), into.begin());
                         }});
  runtime::writeSafetensors(file.string(), sources, {{"step", std::to_string(training.steps)}});

  Training fresh(declareMlp, initial);
  {
    const runtime::SafetensorsReader reader(file.string());
    std::filesystem::remove(file);
    for (const std::string &kind : kinds) {
      Named loaded;
      for (const auto &[name, values] : training.now(kind)) {
        std::vector<float> floats(values.data.size());
        reader.read(reader.tensors().at(kind + "/" + name), floats);
        loaded[name] = Values(values.shape, std::vector<double>(floats.begin(), floats.end()));
      }
      fresh.set(kind, loaded);
    }
    fresh.steps = std::stoll(reader.metadata().at("step"));
  }
  if (fresh.steps != c.integer("steps"))
    throw std::runtime_error("the loaded run is at step " + std::to_string(fresh.steps));
  // The expected moments are those on the path of the course's formula.
  if (ours->empty())
    for (const auto &[moment, expected] : {std::pair("moment1.0", "m_final"), std::pair("moment2.0", "v_final")})
      for (const auto &[name, values] : c.allExpected(expected))
        c.compare(moment + (" of " + name), fresh.now(moment).at(name), values);
  training.step(c, batch(0));
  fresh.step(c, batch(0));
  for (const std::string &kind : kinds)
    for (const auto &[name, values] : training.now(kind))
      if (fresh.now(kind).at(name).data != values.data)
        throw std::runtime_error("after loading, " + kind + " of " + name + " goes on differently");
}

// With beta1 = 0 the first moment that `update` returns is the clipped gradient.
void gradientClipping(const PackCase &c) {
  Named gradients;
  for (const auto &[name, entry] : c.json.at("inputs").items())
    gradients[name] = c.input(name);
  const auto declareAll = [&](Batch) {
    Graph graph;
    std::optional<Tensor> loss;
    for (const auto &[name, values] : gradients) {
      const Tensor g = graph.parameter(name.c_str(), shapeOf(values), constant(0), /*decay=*/true);
      Shape all;
      for (int64_t i = 0; i < values.rank(); ++i)
        all.append(i);
      const Tensor sum = reduce_sum(g, {.dims = all});
      loss = loss ? add(*loss, sum) : sum;
    }
    graph.output("loss", *loss);
    return graph;
  };
  const std::unique_ptr<Program> program = trainable(declareAll);
  const ParameterLayout layout(declareAll({}));
  const ParameterLayout::Section &part = layout.sections.at(0);
  const Values zeros({part.rows, ParameterLayout::rowElements});
  const std::map<std::string, Values> update{{"parameters.0", zeros},
                                             {"moment1.0", zeros},
                                             {"moment2.0", zeros},
                                             {"gradients.0", section(layout, part, gradients)},
                                             {"lr", Values::scalar(0)},
                                             {"beta1", Values::scalar(0)},
                                             {"beta2", Values::scalar(0)},
                                             {"eps", Values::scalar(1e-8)},
                                             {"weight_decay", Values::scalar(0)},
                                             {"clip", Values::scalar(c.parameter("max_l2_norm"))},
                                             {"correction1", Values::scalar(1)},
                                             {"correction2", Values::scalar(1)}};
  std::vector<Values> arguments;
  for (const Slot &slot : argumentsOf(program->joint("update")))
    arguments.push_back(update.at(slot.name));
  const Results results = program->run("update", arguments);
  const std::vector<Slot> slots = resultsOf(program->joint("update"));
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i].name == "moment1.0")
      for (const auto &[name, clipped] : spread(layout, part, results[i], gradients))
        c.compare(name, clipped, c.expected(name));
}

void cosineSchedule(const PackCase &c) {
  for (const auto &set : c.json.at("sets")) {
    const std::vector<int64_t> its = set.at("its");
    Values actual({static_cast<int64_t>(its.size())});
    for (size_t i = 0; i < its.size(); ++i)
      actual.data[i] = runtime::cosineRate(its[i], set.at("max_learning_rate"), set.at("min_learning_rate"),
                                           set.at("warmup_iters"), set.at("cosine_cycle_iters"));
    c.compare("learning rates", actual, Values(actual.shape, set.at("expected").get<std::vector<double>>()));
  }
}

// A file whose byte at i is i, so that a token tells its place.
void randomBatches(const PackCase &c) {
  const int64_t length = c.integer("context_length"), batch = c.integer("batch_size"),
                starts = c.integer("num_start_positions");
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("burin-get-batch-" + std::to_string(getpid()));
  {
    std::ofstream file(path, std::ios::binary);
    for (int i = 0; i < starts + length; ++i)
      file.put(static_cast<char>(i));
  }
  std::map<int64_t, int64_t> counts;
  bool successors = true;
  {
    const runtime::TextFile text(path.string(), 256);
    runtime::RandomWindows windows(text, {0, text.size()}, length, /*seed=*/1);
    std::vector<int32_t> x(static_cast<size_t>(batch * length)), y(x.size());
    for (int64_t i = 0; i < c.integer("num_iters"); ++i) {
      windows.next(x, y);
      for (size_t j = 0; j < x.size(); ++j) {
        successors &= y[j] == x[j] + 1;
        if (j % static_cast<size_t>(length) == 0)
          ++counts[x[j]];
      }
    }
  }
  std::filesystem::remove(path);
  if (!successors)
    throw std::runtime_error("a target is not the token's successor");
  if (counts.begin()->first != c.integer("start_min") || counts.rbegin()->first != c.integer("start_max"))
    throw std::runtime_error("windows start from " + std::to_string(counts.begin()->first) + " to " +
                             std::to_string(counts.rbegin()->first));
  for (const auto &[start, count] : counts)
    if (static_cast<double>(count) < c.parameter("count_lower_bound") ||
        static_cast<double>(count) > c.parameter("count_upper_bound"))
      throw std::runtime_error(std::to_string(count) + " windows start at " + std::to_string(start));
}

} // namespace

std::map<std::string, Check> checks() {
  return {{"linear", linear},
          {"embedding", embeddingCase},
          {"rmsnorm", rmsNorm},
          {"silu", siluCase},
          {"softmax", softmaxCase},
          {"cross_entropy", crossEntropy},
          {"rope", ropeCase},
          {"sdpa", attentionOfAnyMask},
          {"swiglu", swigluCase},
          {"multihead_self_attention", multiHeadAttention},
          {"transformer_block", transformerBlock},
          {"transformer_block_gelu", transformerBlock2024},
          {"transformer_lm", transformerLm},
          {"transformer_lm_gelu_abspos", transformerLm2024},
          {"transformer_lm_loss_grad", transformerLmLossAndGradients},
          {"adamw_training", adamwTraining},
          {"checkpoint_roundtrip", checkpointRoundTrip},
          {"gradient_clipping", gradientClipping},
          {"lr_cosine", cosineSchedule},
          {"get_batch", randomBatches}};
}

} // namespace burin::test
