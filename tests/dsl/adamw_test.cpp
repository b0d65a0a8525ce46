// The declared update, evaluated in double precision here, against AdamW written the slow way.
#include "support.h"

#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>

namespace burin {
namespace {

using Values = std::vector<double>;
using Named = std::map<std::string, Values>;

// The ops of an update on tensors of one shape and scalars.
Named evaluate(const Graph &graph, const Named &inputs) {
  std::vector<Values> values(graph.nodes.size());
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const Node &node = graph.nodes[id];
    Values &result = values[id];
    if (node.role == Node::Role::input) {
      result = inputs.at(std::string(node.name.view()));
      continue;
    }
    const auto operand = [&](int index, std::size_t i) {
      const Values &from = values[node.operands[index]];
      return from.size() == 1 ? from[0] : from[i];
    };
    result.assign(node.shape.size(), 0);
    if (node.mnemonic == "reduce_sum") {
      for (double x : values[node.operands[0]])
        result[0] += x;
      continue;
    }
    for (std::size_t i = 0; i < result.size(); ++i) {
      const double a = operand(0, i), b = node.operands.size() > 1 ? operand(1, i) : 0;
      const std::string_view op = node.mnemonic;
      if (op == "add")
        result[i] = a + b;
      else if (op == "sub")
        result[i] = a - b;
      else if (op == "mul")
        result[i] = a * b;
      else if (op == "div")
        result[i] = a / b;
      else if (op == "sqrt")
        result[i] = std::sqrt(a);
      else if (op == "scale")
        result[i] = a * node.attributes[0].real;
      else if (op == "greater_equal")
        result[i] = a >= b;
      else if (op == "is_finite")
        result[i] = std::isfinite(a);
      else if (op == "to_float")
        result[i] = a;
      else if (op == "where")
        result[i] = a != 0 ? b : operand(2, i);
      else
        ADD_FAILURE() << "an op that an update should not need: " << op;
    }
  }
  Named outputs;
  for (const Output &output : graph.outputs)
    outputs[std::string(output.name.view())] = values[output.node];
  return outputs;
}

struct Settings {
  double lr = 0.1, beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weightDecay = 0.1, clip = 1;
  int step = 3;
};

const std::vector<nn::UpdateGroup> groups = {{.rows = 2, .columns = 3, .decay = true}, {.rows = 1, .columns = 2}};

Named exampleInputs(const Settings &s, double gradientScale) {
  Named inputs = {{"lr", {s.lr}},
                  {"beta1", {s.beta1}},
                  {"beta2", {s.beta2}},
                  {"eps", {s.eps}},
                  {"weight_decay", {s.weightDecay}},
                  {"clip", {s.clip}},
                  {"correction1", {1 - std::pow(s.beta1, s.step)}},
                  {"correction2", {1 - std::pow(s.beta2, s.step)}},
                  {"parameters.0", {1, -2, 3, -4, 0.5, 0}},
                  {"moment1.0", {0.1, 0.2, -0.1, 0, 0.3, 0}},
                  {"moment2.0", {0.01, 0.02, 0.03, 0, 0.05, 0}},
                  {"gradients.0", {0.5, -0.25, 0.125, 1, 0, 0}},
                  {"parameters.1", {2, -1}},
                  {"moment1.1", {0, 0.5}},
                  {"moment2.1", {0.5, 0.25}},
                  {"gradients.1", {-0.5, 2}}};
  for (const char *name : {"gradients.0", "gradients.1"})
    for (double &gradient : inputs[name])
      gradient *= gradientScale;
  return inputs;
}

// Written the slow way on purpose: this is what the declaration is held against.
Named reference(const Settings &s, Named values) {
  double squares = 0;
  for (const char *name : {"gradients.0", "gradients.1"})
    for (double gradient : values[name])
      squares += gradient * gradient;
  const double norm = std::sqrt(squares), shrink = norm > s.clip ? s.clip / (norm + 1e-6) : 1;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::string suffix = "." + std::to_string(g);
    Values &p = values["parameters" + suffix], &m = values["moment1" + suffix], &v = values["moment2" + suffix];
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double gradient = values["gradients" + suffix][i] * shrink;
      if (groups[g].decay)
        p[i] -= s.lr * s.weightDecay * p[i];
      m[i] = s.beta1 * m[i] + (1 - s.beta1) * gradient;
      v[i] = s.beta2 * v[i] + (1 - s.beta2) * gradient * gradient;
      p[i] -=
          s.lr * (m[i] / (1 - std::pow(s.beta1, s.step))) / (std::sqrt(v[i] / (1 - std::pow(s.beta2, s.step))) + s.eps);
    }
  }
  values["grad_norm"] = {norm};
  return values;
}

void expectUpdate(double gradientScale) {
  const Settings settings;
  const Named inputs = exampleInputs(settings, gradientScale);
  Named expected = reference(settings, inputs);
  for (const auto &[name, found] : evaluate(nn::declareUpdate(groups), inputs))
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_NEAR(found[i], expected.at(name)[i], 1e-12) << name << "[" << i << "]";
}

// It is a constant expression like any declaration, and has one output for each thing that changes, and the norm.
static_assert([] {
  const Graph graph = nn::declareUpdate({{.rows = 2, .columns = 1024, .decay = true}, {.rows = 1}});
  return graph.outputs.size() == 7 && graph.findOutput("grad_norm") != nullptr && parameters(graph) == 0 &&
         graph.nodes[graph.findOutput("moment2.1")->node].shape == Shape{1, 1024};
}());

TEST(AdamW, MatchesTheReferenceWithoutClipping) { expectUpdate(0.1); }
TEST(AdamW, MatchesTheReferenceWithClipping) { expectUpdate(10); }

// A norm that is not finite leaves every value as it was, and is reported.
TEST(AdamW, ChangesNothingWhenTheNormIsNotFinite) {
  for (double wrong : {double(NAN), double(INFINITY)}) {
    Named inputs = exampleInputs({}, 1);
    inputs["gradients.1"][0] = wrong;
    for (const auto &[name, found] : evaluate(nn::declareUpdate(groups), inputs)) {
      if (name == "grad_norm")
        EXPECT_FALSE(std::isfinite(found[0]));
      else
        EXPECT_EQ(found, inputs.at(name)) << name;
    }
  }
}

TEST(AdamW, NeedsAGroup) {
  EXPECT_EQ(test::messageOf([] { (void)nn::declareUpdate({}); }), "an update needs at least one group of parameters");
}

} // namespace
} // namespace burin
