// nn::dropout: puts out a share of the elements while a model trains, others each step. The program gives the key, anew
// for each step, and the numbers of the sequences within the step; it turns dropout off with a key of 0.
//
//   const nn::Dropout dropout = nn::dropout_inputs(graph, batch_rows, positions, 0.1);
//   x = nn::dropout(x, dropout, "dropout");
//   x = nn::attention(x, positions, {.heads = 4, .dropout = dropout}, "attn");
#pragma once

#include "../ops/dropout_by_key.h"
#include "../ops/dropout_keys.h"
#include "../ops/dropout_mask.h"
#include "../ops/mul.h"
#include "../ops/reshape.h"
#include "../ops/transpose.h"

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

// What tells the masks of a model apart: FNV-1a of the name, so that adding a layer leaves those of others as they are.
constexpr int64_t dropoutId(const Scope &scope) {
  uint32_t id = 0x811c9dc5;
  for (char c : scope.name.view())
    id = (id ^ static_cast<unsigned char>(c)) * 0x01000193u;
  return static_cast<int64_t>(id >> 1);
}

// x is [rows, length, width].
constexpr Tensor dropout(Tensor x, const Dropout &options, const Scope &scope) {
  if (options.rate == 0)
    return x;
  const Shape shape = x.shape();
  checkAt(scope.place, shape.rank() == 3, "dropout takes [rows, length, width]", "x", shape);
  checkAt(scope.place, options.positions.shape().rank() == 1, "the positions of dropout are [length]", "positions",
          options.positions.shape());
  const Tensor rows = reshape(options.rows, {shape[0], 1, 1}, scope);
  const Tensor positions = reshape(options.positions, {shape[1], 1}, scope);
  return mul(x,
             dropout_mask(rows, positions, options.key,
                          {.width = shape[2], .rate = options.rate, .id = dropoutId(scope)}, scope),
             scope);
}

// Of the weights of attention, [rows, heads, length, length]; or of heads that share their keys in groups, whose
// queries lie one after the other: [rows, groups, heads / groups length, length].
constexpr Tensor attention_dropout(Tensor weights, int64_t heads, const Dropout &options, const Scope &scope) {
  if (options.rate == 0)
    return weights;
  const Shape shape = weights.shape();
  const int64_t rows = shape[0], length = shape.back();
  checkAt(scope.place, options.positions.shape() == Shape{length}, "the positions of dropout are [length]", "positions",
          options.positions.shape(), "length", length);
  const Tensor keys =
      dropout_keys(reshape(options.rows, {rows, 1, 1}, scope), reshape(options.positions, {length, 1}, scope),
                   options.key, {.width = heads, .id = dropoutId(scope)}, scope); // (rows, length, heads)
  const Tensor each = reshape(transpose(keys, {0, 2, 1}, scope), {rows, shape[1], shape[2], 1}, scope);
  return mul(weights,
             dropout_by_key(each, reshape(options.positions, {1, length}, scope), {.rate = options.rate}, scope),
             scope);
}

} // namespace burin::nn
