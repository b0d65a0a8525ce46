// Small models of the characters of a text, as people train them on Shakespeare's plays: sines for positions, one table
// for both ends, dropout, also of attention's weights.
#include <burin.h>

namespace {

struct Shakespeare {
  int vocab = 65, context = 64, width = 64, layers = 2, heads = 4;
  double dropout = 0.1;
  bool learned_positions = false;
};
// The well-known configuration of 10.7 million parameters.
constexpr Shakespeare large = {
    .context = 256, .width = 384, .layers = 6, .heads = 6, .dropout = 0.2, .learned_positions = true};

constexpr burin::Graph declare(const Shakespeare &m, burin::Batch batch) {
  using namespace burin;
  check(!m.learned_positions || batch.length <= m.context,
        "the length of a batch must not exceed the context of the model", "length", batch.length, "context", m.context);
  Graph graph;
  const Tensor tokens = graph.input("tokens", {batch.rows, batch.length}, Dtype::i32);
  const Tensor positions = graph.input("positions", {batch.length}, Dtype::i32);
  const Tensor targets = graph.input("targets", {batch.rows, batch.length}, Dtype::i32);
  const nn::Dropout dropout = nn::dropout_inputs(graph, batch.rows, positions, m.dropout);
  const nn::Linear inner = {.init = normal(0.02)}, biased = {.bias = true, .init = normal(0.02)};
  const nn::Block block = {.attention = {.heads = m.heads, .dropout = dropout, .projection = inner, .output = inner},
                           .norm_kind = nn::NormKind::layer,
                           .feed_forward = nn::FeedForward::gelu,
                           .hidden = 4 * m.width,
                           .gelu = {.gelu = {.approximate = false}, .in = biased, .out = biased},
                           .dropout = dropout};

  const Tensor table = nn::embedding_table(tokens, m.vocab, m.width, "token_embeddings", normal(0.02));
  const Tensor at = m.learned_positions
                        ? nn::learned_positions(positions, m.context, m.width, "position_embeddings")
                        : scale(nn::sinusoidal_positions(positions, m.width, "position_embeddings"), 0.02);
  Tensor x = nn::dropout(embedding(table, tokens) + at, dropout, "dropout");
  for (int i = 0; i < m.layers; ++i)
    x = nn::transformer_block(x, positions, block, Scope("layers") / i);
  const Tensor logits = nn::tied_head(nn::layer_norm(x, "ln_final"), table, "lm_head");
  graph.output("logits", logits);
  graph.output("loss", cross_entropy(logits, targets));
  return graph;
}

} // namespace

BURIN_MODEL(shakespeare, declare, Shakespeare{});
BURIN_MODEL(shakespeare_large, declare, large);
