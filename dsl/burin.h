// Burin's words: declare a language model as a constexpr function and register variants of it.
//
//   #include <burin.h>
//
//   struct Mlp { int width = 32; };
//   constexpr burin::Graph declare(const Mlp &m, burin::Batch batch) {
//     burin::Graph graph;
//     ...
//     graph.output("loss", loss);
//     return graph;
//   }
//   static_assert(burin::parameters(declare(Mlp{}, {16, 128})) == 2048);
//   BURIN_MODEL(mlp, declare, Mlp{});
#pragma once

#include <cstdint>
#include <vector>

// In the order of dependence, so that compilers name each file by its plain path.
#include "core/constants.h"
#include "core/graph.h"
#include "core/math.h"

#include "ops/add.h"
#include "ops/concat.h"
#include "ops/cross_entropy.h"
#include "ops/div.h"
#include "ops/dropout_by_key.h"
#include "ops/dropout_keys.h"
#include "ops/dropout_mask.h"
#include "ops/embedding.h"
#include "ops/exp.h"
#include "ops/gelu.h"
#include "ops/greater_equal.h"
#include "ops/is_finite.h"
#include "ops/log.h"
#include "ops/mask.h"
#include "ops/matmul.h"
#include "ops/maximum.h"
#include "ops/minimum.h"
#include "ops/mul.h"
#include "ops/past.h"
#include "ops/reduce_max.h"
#include "ops/reduce_sum.h"
#include "ops/relu.h"
#include "ops/reshape.h"
#include "ops/rms_norm.h"
#include "ops/rope.h"
#include "ops/scale.h"
#include "ops/sigmoid.h"
#include "ops/silu.h"
#include "ops/sinusoid.h"
#include "ops/slice.h"
#include "ops/softmax.h"
#include "ops/sqrt.h"
#include "ops/sub.h"
#include "ops/tanh.h"
#include "ops/to_float.h"
#include "ops/transpose.h"
#include "ops/where.h"

#include "nn/adamw.h"
#include "nn/attention.h"
#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/gelu_feed_forward.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"
#include "nn/positions.h"
#include "nn/rms_norm.h"
#include "nn/squared_error.h"
#include "nn/swiglu.h"
#include "nn/transformer.h"

namespace burin {

// How many sequences of how many tokens a declaration is asked for.
struct Batch {
  int64_t rows = 1, length = 1;
};

// A registered variant.
struct Model {
  const char *name;
  Graph (*declare)(Batch); // throws ModelError
  Place place;             // of its BURIN_MODEL
};

// All variants of the program, in the order of their lines.
inline std::vector<Model> &registry() {
  static std::vector<Model> models;
  return models;
}

namespace detail {

// Declares a variant, checks what every model must have, and gives errors without a place the variant's own.
template <typename Declare> constexpr Graph declared(const Declare &declare, const Place &place) {
  try {
    Graph graph = declare();
    checkAt(place, graph.findOutput("loss") != nullptr, "a model must have an output named loss");
    return graph;
  } catch (const ModelError &error) {
    throw error.at(place);
  }
}

inline bool registerModel(const Model &model) {
  registry().push_back(model);
  return true;
}

} // namespace detail

} // namespace burin

// The batch and length that the build asks for. Where they are known, the declaration is evaluated by the C++ compiler,
// so that a wrong shape is a compile error.
#if defined(BURIN_BATCH) && defined(BURIN_LENGTH)
#define BURIN_CHECK_MODEL(name)                                                                                        \
  static_assert(burin_declare_##name({BURIN_BATCH, BURIN_LENGTH}).nodes.size() > 0, "the model '" #name "' is wrong");
#else
#define BURIN_CHECK_MODEL(name)
#endif

// Registers `declare(value, batch)` under `name`. The value may contain commas.
#define BURIN_MODEL(name, declare, ...)                                                                                \
  static constexpr burin::Graph burin_declare_##name(burin::Batch batch) {                                             \
    return burin::detail::declared([&] { return declare(__VA_ARGS__, batch); }, burin::Place(__FILE__, __LINE__, 1));  \
  }                                                                                                                    \
  BURIN_CHECK_MODEL(name)                                                                                              \
  [[maybe_unused]] static const bool burin_registered_##name =                                                         \
      burin::detail::registerModel({#name, burin_declare_##name, burin::Place(__FILE__, __LINE__, 1)})
