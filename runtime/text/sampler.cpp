// The whole context is computed for every token: plain, and enough until the entries prefill and decode exist.
#include "text/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "train/language_model.h"

namespace burin::runtime {

int32_t sample(std::span<const float> logits, const SampleOptions &options, const Random &random, uint64_t index) {
  for (size_t i = 0; i < logits.size(); ++i)
    if (!std::isfinite(logits[i]))
      fail("the model's logit for token {} is {}: its weights are unusable", i, logits[i]);
  if (options.temperature == 0)
    return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());

  // Likeliest first; equal logits in the order of their ids, so that a seed gives the same text everywhere.
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    float left = logits[static_cast<size_t>(a)], right = logits[static_cast<size_t>(b)];
    return left != right ? left > right : a < b;
  });
  if (options.topK > 0 && static_cast<size_t>(options.topK) < order.size())
    order.resize(static_cast<size_t>(options.topK));

  double highest = logits[static_cast<size_t>(order[0])], total = 0;
  std::vector<double> weights;
  for (int32_t id : order) {
    weights.push_back(std::exp((logits[static_cast<size_t>(id)] - highest) / options.temperature));
    total += weights.back();
  }
  size_t kept = 0;
  double reached = 0;
  while (kept < weights.size() && (kept == 0 || reached < options.topP * total))
    reached += weights[kept++];

  double point = random.uniform(index) * reached;
  for (size_t i = 0; i < kept; ++i) {
    point -= weights[i];
    if (point < 0)
      return order[i];
  }
  return order[kept - 1]; // rounding left a sliver
}

void generate(Device &device, const Tokenizer &tokenizer, const std::string &prompt, int64_t count,
              const SampleOptions &options, const std::function<void(const std::string &)> &write) {
  LogitsEntry entry(device);
  std::vector<int32_t> ids = tokenizer.encode(prompt, "the prompt");
  if (ids.empty())
    throw UsageError("the prompt is empty; the model needs at least one token to continue");
  int64_t vocab = device.model().vocab;
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= vocab)
      fail("the prompt has token id {} at offset {}, but the model's vocabulary ends at {}", ids[i], i, vocab);

  const Random random(static_cast<uint64_t>(options.seed), "sample");
  DecodeStream text(tokenizer, DecodeStream::replace);
  for (int64_t i = 0; i < count; ++i) {
    // A text shorter than the context is padded behind its end: the model is causal, so the padding is never seen.
    size_t context = entry.tokens.size(), shown = std::min(ids.size(), context);
    std::fill(std::copy(ids.end() - static_cast<std::ptrdiff_t>(shown), ids.end(), entry.tokens.begin()),
              entry.tokens.end(), 0);
    std::iota(entry.positions.begin(), entry.positions.end(), 0);
    entry.dropout.off();
    device.run(entry.entry);
    size_t width = entry.logits.size() / context;
    ids.push_back(sample(entry.logits.subspan((shown - 1) * width, width), options, random, static_cast<uint64_t>(i)));
    write(text.feed({&ids.back(), 1}));
  }
  write(text.finish());
}

} // namespace burin::runtime
