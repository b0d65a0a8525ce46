// Everything that decides how a run goes. One list of fields serves the command line, the log and the checkpoint.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "train/adamw.h"

namespace burin::runtime {

struct TrainOptions {
  std::string data;
  std::optional<std::string> tokens; // bytes where the model has an id for each of them, else characters
  std::optional<std::string> tokenizer;
  std::string windows = "random";
  bool check = false;
  std::string split = "end";
  int64_t steps = 600;
  double lr = 1e-3;
  std::optional<double> minLr;   // a tenth of lr when not given
  std::optional<int64_t> warmup; // min(100, steps / 6) when not given
  std::string schedule = "cosine";
  AdamW adamw;
  int64_t accumulate = 1;
  std::optional<double> validFraction; // 0.1 when not given, of points 0.2
  int64_t seed = 1;
  bool fixedBatch = false;
  int64_t saveEvery = 100, evalEvery = 0, maxSkipped = 10;
};

// Calls visit(name, field, help) for each field. The flag of a name has '-' for '_'.
template <typename Options, typename Visit> void visitFields(Options &options, Visit visit) {
  visit("data", options.data,
        "what to train on: a text, token ids (a folder of burin-text prepare, or a file), or for a "
        "regression lines x,y");
  visit("tokens", options.tokens, "what a token of the text is: bytes or characters [bytes, if the model has 256 ids]");
  visit("tokenizer", options.tokenizer, "what makes tokens of the text: a folder with a trained tokenizer");
  visit("windows", options.windows, "random: windows from anywhere; epochs: every window once, in a random order");
  visit("check", options.check, "look at all token ids of the data before the first step");
  visit("split", options.split, "which points are kept for validation: the last ones (end) or any (random)");
  visit("steps", options.steps, "optimizer steps, at least 1");
  visit("lr", options.lr, "highest learning rate, in (0, 10]");
  visit("min_lr", options.minLr, "learning rate at the last step, in [0, lr] [a tenth of --lr]");
  visit("warmup", options.warmup, "steps of linear warmup, in [0, steps] [min(100, steps / 6)]");
  visit("schedule", options.schedule, "cosine: warm up, then fall to --min-lr; constant: --lr from the first step");
  visit("beta1", options.adamw.beta1, "decay of the first moment, in [0, 1)");
  visit("beta2", options.adamw.beta2, "decay of the second moment, in [0, 1)");
  visit("eps", options.adamw.eps, "AdamW's epsilon, in (0, 1]");
  visit("weight_decay", options.adamw.weightDecay, "weight decay, in [0, 100]");
  visit("clip", options.adamw.clip, "greatest norm of the gradients, above 0; inf: no clipping");
  visit("accumulate", options.accumulate, "batches per optimizer step, in [1, 1000000]");
  visit("valid_fraction", options.validFraction,
        "share of the data kept for validation, in (0, 0.9]; of points also 0; not for a prepared folder with parts of "
        "its own [0.1, of points 0.2]");
  visit("seed", options.seed, "seed of initial weights and batches, in [0, 9000000000000000000]");
  visit("fixed_batch", options.fixedBatch, "train on the first batch again and again");
  visit("save_every", options.saveEvery,
        "save a checkpoint every so many steps; 0: only before the first and after the last");
  visit("eval_every", options.evalEvery, "evaluate every so many steps; 0: only at the end");
  visit("max_skipped", options.maxSkipped,
        "stop after so many steps in a row with a loss or gradient that is not finite");
}

nlohmann::json toJson(const TrainOptions &options);
// Throws nlohmann::json::exception when a field is missing or of another type.
TrainOptions fromJson(const nlohmann::json &json);

std::string flagOf(std::string name);

// Ranges of all fields, NaN included; the first violated one is a UsageError that names the flag. `points`: of a
// regression, which may do without validation.
void check(const TrainOptions &options, bool points = false);

// `value` must lie between the bounds; an open bound excludes itself.
struct Range {
  double low, high;
  bool lowOpen = false, highOpen = false;
};
void checkRange(const std::string &flag, double value, Range range);
void checkRange(const std::string &flag, int64_t value, Range range); // says it and the bounds in digits

// Of step `step`, counted from 1.
double learningRate(const TrainOptions &options, int64_t step);

} // namespace burin::runtime
