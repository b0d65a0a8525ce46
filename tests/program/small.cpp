// A language model small enough to compile in a moment, and its variants: each differs from `small` in one thing that a
// test is about.
#include <burin.h>

namespace {

using namespace burin;

struct Small {
  int vocab = 256, width = 32, layers = 2, heads = 2, hidden = 64;
  float final_eps = 1e-5f;     // of the last norm
  bool residual = true;        // around the layer "mix"
  bool read_scores = false;    // the loss also looks at an attention's scores
  bool pair_positions = false; // asks for an even length
};

// One head, written out so that the loss can read its scores.
constexpr Tensor watchedAttention(Tensor x, Tensor positions, Tensor &penalty) {
  const int64_t width = x.shape().back();
  const Tensor q = nn::linear(x, width, "watched.q");
  const Tensor k = nn::linear(x, width, "watched.k");
  const Tensor scores = scale(matmul(q, k, {.transpose_b = true}), 0.1);
  penalty = scale(reduce_sum(scores * scores, {.dims = {0, 1, 2}}), 1e-3);
  const Tensor weights = softmax(mask(scores, nn::causal(positions, "watched")));
  return matmul(weights, nn::linear(x, width, "watched.v"));
}

constexpr Graph declare(const Small &m, Batch batch) {
  Graph graph;
  const Tensor tokens = graph.input("tokens", {batch.rows, batch.length}, Dtype::i32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor targets = graph.input("targets", {batch.rows, batch.length}, Dtype::i32);
  const nn::Block block = {.attention = {.heads = m.heads, .rope_theta = 1e4}, .hidden = m.hidden};
  Tensor x = nn::embedding(tokens, m.vocab, m.width, "token_embeddings");
  for (int i = 0; i < m.layers; ++i)
    x = nn::transformer_block(x, positions, block, Scope("layers") / i);
  const Scope mix = "mix";
  const Tensor mixed = nn::linear(x, m.width, mix);
  x = m.residual ? add(x, mixed, mix) : mixed;
  if (m.pair_positions) {
    const Tensor pairs = reshape(x, {batch.rows, batch.length / 2, 2 * m.width});
    x = reshape(pairs, {batch.rows, batch.length, m.width});
  }
  Tensor penalty = {};
  if (m.read_scores)
    x = x + watchedAttention(x, positions, penalty);
  const Tensor logits = nn::linear(nn::rms_norm(x, "ln_final", {.eps = m.final_eps}), m.vocab, "lm_head");
  graph.output("logits", logits);
  const Tensor loss = cross_entropy(logits, targets);
  graph.output("loss", m.read_scores ? loss + penalty : loss);
  return graph;
}

} // namespace

BURIN_MODEL(small, declare, Small{});
BURIN_MODEL(small_deep, declare, Small{.layers = 48});
BURIN_MODEL(small_final_eps, declare, Small{.final_eps = 0.5f});
BURIN_MODEL(small_no_residual, declare, Small{.residual = false});
BURIN_MODEL(small_scores_read, declare, Small{.read_scores = true});
BURIN_MODEL(small_pairs, declare, Small{.pair_positions = true});
