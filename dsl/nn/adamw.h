// AdamW's arithmetic, declared as ops and compiled like a model. Policy (learning rate, when, which groups) is the
// runtime's.
#pragma once

#include <vector>

#include "../ops/add.h"
#include "../ops/div.h"
#include "../ops/greater_equal.h"
#include "../ops/is_finite.h"
#include "../ops/mul.h"
#include "../ops/reduce_sum.h"
#include "../ops/scale.h"
#include "../ops/sqrt.h"
#include "../ops/sub.h"
#include "../ops/to_float.h"
#include "../ops/where.h"

namespace burin::nn {

// Parameters that are updated alike: a flat, padded part of the parameter buffer, seen as [rows, columns].
struct UpdateGroup {
  int64_t rows = 1, columns = 1024;
  bool decay = false;
};

// The graph of one update. With g the index of a group, in decimal:
//   inputs   parameters.g, gradients.g, moment1.g, moment2.g: f32 [rows, columns]
//            lr, beta1, beta2, eps, weight_decay, clip, correction1 = 1 - beta1^t, correction2 = 1 - beta2^t: f32
//            scalars
//   outputs  parameters.g, moment1.g, moment2.g: the new values; grad_norm: over all groups, before clipping
// A gradient norm above `clip` scales all gradients by clip / (norm + 1e-6). A norm that is not finite changes nothing.
constexpr Graph declareUpdate(const std::vector<UpdateGroup> &groups) {
  struct Views {
    Tensor parameters, gradients, moment1, moment2;
  };
  Graph graph;
  check(!groups.empty(), "an update needs at least one group of parameters");
  const auto scalar = [&](const char *name) { return graph.input(name, {}, Dtype::f32); };
  const auto name = [](const char *what, std::size_t group) { return Text(what).dotted(static_cast<int64_t>(group)); };

  std::vector<Views> views;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto view = [&](const char *what) {
      return graph.input(name(what, g), {groups[g].rows, groups[g].columns}, Dtype::f32);
    };
    const Tensor parameters = view("parameters"), gradients = view("gradients");
    const Tensor moment1 = view("moment1"), moment2 = view("moment2");
    views.push_back({parameters, gradients, moment1, moment2});
  }
  const Tensor lr = scalar("lr"), beta1 = scalar("beta1"), beta2 = scalar("beta2"), eps = scalar("eps");
  const Tensor weightDecay = scalar("weight_decay"), clip = scalar("clip");
  const Tensor correction1 = scalar("correction1"), correction2 = scalar("correction2");

  Tensor squares{};
  for (const Views &view : views) {
    const Tensor square = reduce_sum(view.gradients * view.gradients, {.dims = {0, 1}});
    squares = squares.graph != nullptr ? squares + square : square;
  }
  const Tensor norm = sqrt(squares);
  const Tensor finite = is_finite(norm);

  // The words have no constants; a number is at least itself.
  const Tensor one = to_float(greater_equal(lr, lr));
  const Tensor shrink = where(greater_equal(clip, norm), one, clip / (norm + scale(one, 1e-6)));
  const Tensor complement1 = one - beta1, complement2 = one - beta2;
  const Tensor step = lr / correction1;
  const Tensor rootScale = one / sqrt(correction2);
  const Tensor keep = one - lr * weightDecay;

  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Views &old = views[g];
    const Tensor gradients = old.gradients * shrink;
    const Tensor moment1 = old.moment1 * beta1 + gradients * complement1;
    const Tensor moment2 = old.moment2 * beta2 + gradients * gradients * complement2;
    const Tensor decayed = groups[g].decay ? old.parameters * keep : old.parameters;
    const Tensor parameters = decayed - step * moment1 / (sqrt(moment2) * rootScale + eps);
    graph.output(name("parameters", g), where(finite, parameters, old.parameters));
    graph.output(name("moment1", g), where(finite, moment1, old.moment1));
    graph.output(name("moment2", g), where(finite, moment2, old.moment2));
  }
  graph.output("grad_norm", norm);
  return graph;
}

} // namespace burin::nn
