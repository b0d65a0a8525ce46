// nn::embedding: a learned vector for each id. Starts as N(0, 1) cut at 3; weight decay applies.
//
// A tied head uses the table twice:
//   const Tensor table = nn::embedding_table(tokens, vocab, width, "token_embeddings", normal(0.02));
//   Tensor x = embedding(table, tokens);
//   ...
//   const Tensor logits = nn::tied_head(x, table, "lm_head");
#pragma once

#include "../ops/embedding.h"
#include "../ops/matmul.h"

namespace burin::nn {

// The parameter alone, in the graph of `of`.
constexpr Tensor embedding_table(Tensor of, int64_t vocab, int64_t width, const Scope &scope,
                                 const Initializer &init = truncatedNormal(1, 3)) {
  checkAt(scope.place, of.graph != nullptr, "the tensor belongs to no graph");
  return of.graph->parameter("weight", {vocab, width}, init, /*decay=*/true, scope);
}

constexpr Tensor embedding(Tensor ids, int64_t vocab, int64_t width, const Scope &scope,
                           const Initializer &init = truncatedNormal(1, 3)) {
  return burin::embedding(embedding_table(ids, vocab, width, scope, init), ids, scope);
}

// The products of x with each vector of a table: one parameter, one gradient, the sum of both uses.
constexpr Tensor tied_head(Tensor x, Tensor table, const Scope &scope) {
  return matmul(x, table, {.transpose_b = true}, scope);
}

} // namespace burin::nn
