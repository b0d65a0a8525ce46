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

  // Likeliest first; equal logits in the order of their ids, so that a seed gives the same text everywhere. Of a large
  // vocabulary few are likely: they are sorted only as far as the draw gets.
  auto logit = [&](int32_t id) { return logits[static_cast<size_t>(id)]; };
  auto likelier = [&](int32_t a, int32_t b) { return logit(a) != logit(b) ? logit(a) > logit(b) : a < b; };
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  size_t sorted = 0;
  auto at = [&](size_t place) {
    while (place >= sorted) {
      auto begin = order.begin() + static_cast<std::ptrdiff_t>(sorted);
      sorted = std::min(order.size(), std::max<size_t>(64, 4 * sorted));
      auto end = order.begin() + static_cast<std::ptrdiff_t>(sorted);
      if (end != order.end())
        std::nth_element(begin, end, order.end(), likelier);
      std::sort(begin, end, likelier);
    }
    return order[place];
  };

  const double highest = *std::max_element(logits.begin(), logits.end());
  auto weight = [&](int32_t id) { return std::exp((logit(id) - highest) / options.temperature); };
  size_t kept = order.size();
  double total = 0;
  if (options.topK > 0 && static_cast<size_t>(options.topK) < kept) {
    kept = static_cast<size_t>(options.topK);
    for (size_t i = 0; i < kept; ++i)
      total += weight(at(i));
  } else {
    for (int32_t id : order)
      total += weight(id);
  }
  if (options.topP < 1) {
    double reached = 0;
    size_t enough = 0;
    while (enough < kept && (enough == 0 || reached < options.topP * total))
      reached += weight(at(enough++));
    kept = enough;
    total = reached;
  }

  double point = random.uniform(index) * total;
  for (size_t i = 0; i < kept; ++i) {
    point -= weight(at(i));
    if (point < 0)
      return at(i);
  }
  return at(kept - 1); // rounding left a sliver
}

std::vector<int32_t> startIds(const Tokenizer &tokenizer) {
  if (std::optional<int32_t> endOfText = tokenizer.endOfText())
    return {*endOfText};
  return tokenizer.encode(tokenizer.start());
}

void generate(Device &device, const Tokenizer &tokenizer, const std::string &prompt, int64_t count,
              const SampleOptions &options, const std::function<void(const std::string &)> &write) {
  generate(device, tokenizer, tokenizer.encode(prompt, "the prompt"), count, options, write);
}

void generate(Device &device, const Tokenizer &tokenizer, std::vector<int32_t> ids, int64_t count,
              const SampleOptions &options, const std::function<void(const std::string &)> &write) {
  LogitsEntry entry(device);
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
    for (size_t token = 0; token < entry.valid.size(); ++token)
      entry.valid[token] = token < shown;
    std::iota(entry.positions.begin(), entry.positions.end(), 0);
    entry.dropout.off();
    device.run(entry.entry);
    size_t width = entry.logits.size() / context;
    const std::span<const float> logits = entry.logits.subspan((shown - 1) * width, width);
    device.download(logits);
    ids.push_back(sample(logits, options, random, static_cast<uint64_t>(i)));
    if (!options.pastEnd && tokenizer.endOfText() == ids.back())
      break;
    write(text.feed({&ids.back(), 1}));
  }
  write(text.finish());
}

} // namespace burin::runtime
