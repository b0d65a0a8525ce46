// nn::embedding: a learned vector for each id. Starts as N(0, 1) cut at 3; weight decay applies.
#pragma once

#include "../ops/embedding.h"

namespace burin::nn {

constexpr Tensor embedding(Tensor ids, int64_t vocab, int64_t width, const Scope &scope) {
  checkAt(scope.place, ids.graph != nullptr, "the tensor belongs to no graph");
  const Tensor table = ids.graph->parameter("weight", {vocab, width}, truncatedNormal(1, 3), /*decay=*/true, scope);
  return burin::embedding(table, ids, scope);
}

} // namespace burin::nn
