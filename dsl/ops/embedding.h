// embedding: y[..., :] = table[ids[...], :]. Ids outside the table are refused where they enter the program.
#pragma once

#include "../core/graph.h"

namespace burin {

struct Embedding {
  static constexpr std::string_view mnemonic = "embedding";

  static constexpr Shape shape(const Shape &table, const Shape &ids) {
    check(table.rank() == 2, "the table of an embedding must have two dimensions, rows and width", "table", table);
    return Shape(ids).append(table.back());
  }
  static constexpr Dtype dtype(Dtype table, Dtype ids) {
    check(table == Dtype::f32 && ids == Dtype::i32, "embedding takes an f32 table and i32 ids", "table", table, "ids",
          ids);
    return Dtype::f32;
  }
  static constexpr Cost cost(const Shape &, const Shape &) { return {}; }
};

constexpr Tensor embedding(Tensor table, Tensor ids, const Site &site = std::source_location::current()) {
  return apply(Embedding{}, {table, ids}, site);
}

} // namespace burin
