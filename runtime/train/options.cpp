// Ranges are checked here and not by the flag parser, so that options from a checkpoint go through the same checks.
#include "train/options.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "error.h"
#include "train/schedule.h"

namespace burin::runtime {
namespace {

using nlohmann::json;

constexpr double infinity = std::numeric_limits<double>::infinity();

// JSON has no infinity; null stands for it in `clip`, the one field where it makes sense, and for "not given"
// elsewhere.
json valueOf(double field) { return field == infinity ? json(nullptr) : json(field); }
template <typename T> json valueOf(const std::optional<T> &field) { return field ? json(*field) : json(nullptr); }
template <typename T> json valueOf(const T &field) { return field; }

void setField(const json &value, double &field) { field = value.is_null() ? infinity : value.get<double>(); }
template <typename T> void setField(const json &value, std::optional<T> &field) {
  field = value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}
template <typename T> void setField(const json &value, T &field) { value.get_to(field); }

template <typename Number> void checkAnyRange(const std::string &flag, Number value, Range range) {
  // Written so that NaN, for which every comparison is false, is refused.
  const auto number = static_cast<double>(value);
  bool above = range.lowOpen ? number > range.low : number >= range.low;
  bool below = range.highOpen ? number < range.high : number <= range.high;
  if (above && below)
    return;
  auto said = [](double bound) {
    return std::is_integral_v<Number> ? fmt::format("{}", static_cast<int64_t>(bound)) : fmt::format("{:g}", bound);
  };
  throw UsageError(fmt::format("{} is {}, but must lie in {}{}, {}{}", flag, value, range.lowOpen ? '(' : '[',
                               said(range.low), said(range.high), range.highOpen ? ')' : ']'));
}

int64_t warmupOf(const TrainOptions &options) {
  return options.warmup.value_or(std::min<int64_t>(100, options.steps / 6));
}

} // namespace

json toJson(const TrainOptions &options) {
  json result;
  visitFields(options, [&](const char *name, const auto &field, const char *) { result[name] = valueOf(field); });
  return result;
}

TrainOptions fromJson(const json &source) {
  // What checkpoints of earlier versions do not have, and what they did then is the default.
  constexpr std::string_view later[] = {"tokenizer", "windows", "check"};
  TrainOptions options;
  visitFields(options, [&](const char *name, auto &field, const char *) {
    if (source.contains(name) || std::find(std::begin(later), std::end(later), name) == std::end(later))
      setField(source.at(name), field);
  });
  return options;
}

std::string flagOf(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return "--" + name;
}

void checkRange(const std::string &flag, double value, Range range) { checkAnyRange(flag, value, range); }
void checkRange(const std::string &flag, int64_t value, Range range) { checkAnyRange(flag, value, range); }

void check(const TrainOptions &options, bool points) {
  constexpr double many = 1e12;
  checkRange("--steps", options.steps, {1, many});
  checkRange("--lr", options.lr, {0, 10, true});
  if (options.minLr)
    checkRange("--min-lr", *options.minLr, {0, options.lr});
  if (options.warmup && *options.warmup > options.steps)
    throw UsageError(
        fmt::format("--warmup is {} steps, longer than the run of {} steps", *options.warmup, options.steps));
  if (options.warmup)
    checkRange("--warmup", *options.warmup, {0, many});
  if (options.schedule != "cosine" && options.schedule != "constant")
    throw UsageError(fmt::format("--schedule is '{}', but must be cosine or constant", options.schedule));
  if (options.tokens && *options.tokens != "bytes" && *options.tokens != "characters")
    throw UsageError(fmt::format("--tokens is '{}', but must be bytes or characters", *options.tokens));
  if (options.tokens && options.tokenizer)
    throw UsageError("--tokens and --tokenizer exclude each other: one thing makes tokens of a text");
  if (options.windows != "random" && options.windows != "epochs")
    throw UsageError(fmt::format("--windows is '{}', but must be random or epochs", options.windows));
  if (options.split != "end" && options.split != "random")
    throw UsageError(fmt::format("--split is '{}', but must be end or random", options.split));
  checkRange("--beta1", options.adamw.beta1, {0, 1, false, true});
  checkRange("--beta2", options.adamw.beta2, {0, 1, false, true});
  checkRange("--eps", options.adamw.eps, {0, 1, true});
  checkRange("--weight-decay", options.adamw.weightDecay, {0, 100});
  checkRange("--clip", options.adamw.clip, {0, infinity, true});
  checkRange("--accumulate", options.accumulate, {1, 1e6});
  if (options.validFraction)
    checkRange("--valid-fraction", *options.validFraction, {0, 0.9, !points});
  checkRange("--seed", options.seed, {0, 9e18});
  checkRange("--save-every", options.saveEvery, {0, many});
  checkRange("--eval-every", options.evalEvery, {0, many});
  checkRange("--max-skipped", options.maxSkipped, {1, many});
}

double learningRate(const TrainOptions &options, int64_t step) {
  if (options.schedule == "constant")
    return options.lr;
  return cosineRate(step, options.lr, options.minLr.value_or(options.lr / 10), warmupOf(options), options.steps);
}

} // namespace burin::runtime
