// nn::dropout: puts out a share of the elements while a model trains, others each step. The program gives the key, anew
// for each step, and the numbers of the sequences within the step; it turns dropout off with a key of 0.
//
//   const nn::Dropout dropout = nn::dropout_inputs(graph, batch_rows, positions, 0.1);
//   x = nn::dropout(x, dropout, "dropout");
#pragma once

#include "../ops/dropout_mask.h"
#include "../ops/mul.h"
#include "../ops/reshape.h"

namespace burin::nn {

struct Dropout {
  double rate = 0; // 0: none, and then the rest is not needed
  Tensor rows{}, positions{}, key{};
};

// Adds the inputs `rows` and `dropout_key`.
constexpr Dropout dropout_inputs(Graph &graph, int64_t rows, Tensor positions, double rate,
                                 const Site &site = std::source_location::current()) {
  if (rate == 0)
    return {};
  const Tensor numbers = graph.input("rows", {rows}, Dtype::i32, site);
  const Tensor key = graph.input("dropout_key", {}, Dtype::i32, site);
  return {rate, numbers, positions, key};
}

// x is [rows, length, width].
constexpr Tensor dropout(Tensor x, const Dropout &options, const Scope &scope) {
  if (options.rate == 0)
    return x;
  const Shape shape = x.shape();
  checkAt(scope.place, shape.rank() == 3, "dropout takes [rows, length, width]", "x", shape);
  checkAt(scope.place, options.positions.shape().rank() == 1, "the positions of dropout are [length]", "positions",
          options.positions.shape());
  uint32_t id = 0x811c9dc5; // FNV-1a of the name: adding a layer leaves the masks of others as they are
  for (char c : scope.name.view())
    id = (id ^ static_cast<unsigned char>(c)) * 0x01000193u;
  const Tensor rows = reshape(options.rows, {shape[0], 1, 1}, scope);
  const Tensor positions = reshape(options.positions, {shape[1], 1}, scope);
  return mul(x,
             dropout_mask(rows, positions, options.key,
                          {.width = shape[2], .rate = options.rate, .id = static_cast<int64_t>(id >> 1)}, scope),
             scope);
}

} // namespace burin::nn
