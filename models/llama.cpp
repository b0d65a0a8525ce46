// Models of the Llama kind: RMSNorm, rotated positions, gated feed-forward layers, no biases, heads that may share
// their keys; and the course's model at its own size and a smaller one, which are of them.
#include <burin.h>

namespace {

struct Llama {
  int vocab = 50257, context = 1024, width = 768, layers = 12, heads = 12, hidden = 2048;
  std::optional<int64_t> kv_heads = std::nullopt; // as many as heads
  double rope_theta = 1e4;
  bool half_split = false; // which elements rotation pairs: neighbours, or those half a head apart
  bool qk_norm = false;
  bool tied = false;
};
constexpr Llama medium = {.width = 1024, .layers = 24, .heads = 16, .hidden = 2752};
constexpr Llama large = {.width = 1280, .layers = 36, .heads = 20, .hidden = 3392};
constexpr Llama course = {.vocab = 10000, .context = 256, .width = 512, .layers = 4, .heads = 16, .hidden = 1344};

// The course's model at a size that two cores train in minutes; a context holds a whole story.
constexpr Llama small = {.vocab = 10000, .context = 256, .width = 256, .layers = 4, .heads = 8, .hidden = 704};

constexpr burin::Graph declare(const Llama &m, burin::Batch batch) {
  using namespace burin;
  check(batch.length <= m.context, "the length of a batch must not exceed the context of the model", "length",
        batch.length, "context", m.context);
  Graph graph;
  const Tensor tokens = graph.input("tokens", {batch.rows, batch.length}, Dtype::i32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor targets = graph.input("targets", {batch.rows, batch.length}, Dtype::i32);
  const nn::Block block = {.attention = {.heads = m.heads,
                                         .kv_heads = m.kv_heads,
                                         .rope_theta = m.rope_theta,
                                         .rope_half_split = m.half_split,
                                         .qk_norm = m.qk_norm},
                           .hidden = m.hidden};

  const Tensor table =
      nn::embedding_table(tokens, m.vocab, m.width, "token_embeddings", m.tied ? normal(0.02) : truncatedNormal(1, 3));
  Tensor x = embedding(table, tokens);
  for (int i = 0; i < m.layers; ++i)
    x = nn::transformer_block(x, positions, block, Scope("layers") / i);
  x = nn::rms_norm(x, "ln_final");
  const Tensor logits = m.tied ? nn::tied_head(x, table, "lm_head") : nn::linear(x, m.vocab, "lm_head");
  graph.output("logits", logits);
  graph.output("loss", cross_entropy(logits, targets));
  return graph;
}

// 2 V D + L (4 D^2 + 3 D H + 2 D) + D
static_assert(burin::parameters(declare(course, {1, 256})) == 22'696'448);

} // namespace

BURIN_MODEL(cs336_10000, declare, course);
BURIN_MODEL(stories, declare, small);
BURIN_MODEL(llama_small, declare, Llama{});
BURIN_MODEL(llama_medium, declare, medium);
BURIN_MODEL(llama_large, declare, large);
BURIN_MODEL(llama_small_tied, declare, Llama{.tied = true});
// As the models of 2024 and 2025 have it: three query heads to a key, queries and keys normed, halves of a head paired.
BURIN_MODEL(llama_grouped, declare,
            Llama{.kv_heads = 4, .rope_theta = 5e5, .half_split = true, .qk_norm = true, .tied = true});
