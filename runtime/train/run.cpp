// The order within a step is: compute, log, evaluate, save. A checkpoint therefore stands for everything logged up to
// its step, and resuming cuts the log there.
#include "train/run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "device/peak.h"
#include "store/checkpoint.h"
#include "text/sampler.h"
#include "train/initialize.h"
#include "train/interrupt.h"
#include "train/progress.h"
#include "train/run_log.h"
#include "train/trainer.h"

namespace burin::runtime {
namespace {

using nlohmann::json;

constexpr int64_t sampleLength = 300;

// How far a run has come: with the options and the weights all that a resumed run needs.
struct State {
  int64_t step = 0;
  int64_t updates = 0; // applied ones; a skipped step does not count
  uint64_t windows = 0;
  int64_t skipped = 0, skippedInRow = 0;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(State, step, updates, windows, skipped, skippedInRow)

class Run {
public:
  Run(const burin_model &model, const TrainOptions &options, const RunOptions &run)
      : options_(options), run_(run), folder_(run.out), text_(options.data, model.vocab), device_(model, run.threads),
        trainer_(device_), parts_(split(text_, options.validFraction, trainer_.length())),
        checkpoint_(checkpointPath(run.out)) {}

  int go();

private:
  void start();
  void resume();
  void step(RunLog &log, Progress &progress);
  void logEvaluation(RunLog &log);
  void save();
  void finish(RunLog &log);
  json fingerprint() const { return {{"bytes", text_.size()}, {"fingerprint", text_.fingerprint()}}; }

  const TrainOptions &options_;
  const RunOptions &run_;
  OutputFolder folder_;
  TextFile text_;
  Device device_;
  Trainer trainer_;
  Parts parts_;
  std::string checkpoint_;
  State state_;
  int64_t savedStep_ = -1;
};

void Run::start() {
  if (std::filesystem::exists(checkpoint_))
    fmt::print(stderr, "note: {} holds an earlier run; its checkpoint is replaced at the first save\n", run_.out);
  initialize(device_, static_cast<uint64_t>(options_.seed));
}

void Run::resume() {
  Checkpoint loaded = loadCheckpoint(checkpoint_, device_, /*withMoments=*/true);
  try {
    state_ = loaded.run.at("state").get<State>();
    if (std::min({state_.step, state_.updates, state_.skipped, state_.skippedInRow}) < 0)
      fail("checkpoint {}: its description of the run has a negative count", checkpoint_);
    if (loaded.run.at("data") != fingerprint())
      fail("data file {} is not the text that the run in {} was trained on ({} bytes now, {} then)", text_.path(),
           run_.out, text_.size(), loaded.run.at("data").at("bytes").dump());
  } catch (const json::exception &error) {
    fail("checkpoint {}: its description of the run is damaged ({})", checkpoint_, error.what());
  }
  if (loaded.model != device_.model().name)
    fmt::print(stderr, "note: {} was written by model '{}'\n", checkpoint_, loaded.model);
  if (state_.step > options_.steps)
    fail("checkpoint {} is at step {}, beyond the {} steps of this run", checkpoint_, state_.step, options_.steps);
  savedStep_ = state_.step;
}

void Run::step(RunLog &log, Progress &progress) {
  auto started = std::chrono::steady_clock::now();
  RandomWindows windows(text_, parts_.train, trainer_.length(), static_cast<uint64_t>(options_.seed),
                        options_.fixedBatch ? 0 : state_.windows);
  double lr = learningRate(options_, state_.step + 1);
  StepResult result = trainer_.step(windows, options_.accumulate, options_.adamw, lr, state_.updates + 1);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();

  ++state_.step;
  state_.windows = windows.drawn();
  int64_t tokens = options_.accumulate * trainer_.tokensPerBatch();
  nlohmann::ordered_json line = {{"event", "step"},
                                 {"step", state_.step},
                                 {"loss", result.loss},
                                 {"lr", lr},
                                 {"grad_norm", result.gradNorm},
                                 {"tokens", state_.step * tokens},
                                 {"ms", seconds * 1e3},
                                 {"tokens_per_s", static_cast<double>(tokens) / seconds}};
  if (result.skipped.empty()) {
    ++state_.updates;
    state_.skippedInRow = 0;
    progress.show(state_.step, result.loss, lr, seconds);
  } else {
    ++state_.skipped;
    ++state_.skippedInRow;
    line["skipped"] = result.skipped;
    progress.clear();
    fmt::print(stderr, "step {} skipped: {}\n", state_.step, result.skipped);
  }
  log.write(line);
  if (state_.skippedInRow >= options_.maxSkipped) {
    save();
    fail("stopped at step {} after {} skipped steps in a row: {}", state_.step, state_.skippedInRow, result.skipped);
  }
}

void Run::logEvaluation(RunLog &log) {
  Evaluation valid = evaluate(device_, text_, parts_.valid);
  fmt::print("step {}  validation loss {:.4f}\n", state_.step, valid.loss);
  log.write({{"event", "valid"}, {"step", state_.step}, {"valid_loss", valid.loss}, {"valid_tokens", valid.tokens}});
}

void Run::save() {
  if (savedStep_ == state_.step)
    return;
  json options = toJson(options_);
  options["data"] = std::filesystem::absolute(options_.data).string(); // a run may be resumed from another folder
  saveCheckpoint(checkpoint_, device_, {{"options", options}, {"state", state_}, {"data", fingerprint()}});
  savedStep_ = state_.step;
}

void Run::finish(RunLog &log) {
  Evaluation valid = evaluate(device_, text_, parts_.valid);
  log.write({{"event", "end"},
             {"step", state_.step},
             {"valid_loss", valid.loss},
             {"valid_tokens", valid.tokens},
             {"perplexity", valid.perplexity()},
             {"bits_per_byte", valid.bitsPerByte()},
             {"skipped", state_.skipped},
             {"checkpoint", checkpoint_}});
  if (state_.skipped)
    fmt::print("skipped steps    {}\n", state_.skipped);
  fmt::print(
      "validation loss  {:.4f}  ({} tokens)\nperplexity       {:.3f}\nbits per byte    {:.4f}\ncheckpoint       {}\n",
      valid.loss, valid.tokens, valid.perplexity(), valid.bitsPerByte(), checkpoint_);
  fmt::print("sample:\n");
  generate(device_, ByteTokenizer(), "\n", sampleLength, {.seed = options_.seed},
           [](const std::string &text) { std::fwrite(text.data(), 1, text.size(), stdout); });
  fmt::print("\n");
}

int Run::go() {
  if (run_.resume)
    resume();
  else
    start();
  RunLog log(folder_.file("log.jsonl"), run_.resume ? state_.step : -1);
  const burin_model &model = device_.model();
  if (!run_.resume)
    log.write({{"event", "start"},
               {"model", model.name},
               {"dtype", model.dtype},
               {"source_revision", model.source_revision},
               {"parameters", model.parameter_count},
               {"options", toJson(options_)}});

  fmt::print("{}: {} parameters, {} tokens a step, {} threads; {}: {} tokens to train on, {} to validate\n", model.name,
             model.parameter_count, options_.accumulate * trainer_.tokensPerBatch(), device_.threads(), text_.path(),
             parts_.train.size(), parts_.valid.size());
  auto accumulate = static_cast<double>(options_.accumulate);
  int64_t printEvery = run_.printEvery ? run_.printEvery : std::max<int64_t>(1, options_.steps / 60);
  {
    Interrupt interrupt;
    Progress progress(options_.steps, accumulate * static_cast<double>(trainer_.tokensPerBatch()),
                      accumulate * model.flops_per_step, measurePeak(model.dtype, device_.threads(), 0.05), printEvery);
    while (state_.step < options_.steps) {
      step(log, progress);
      if (options_.evalEvery && state_.step % options_.evalEvery == 0 && state_.step < options_.steps) {
        progress.clear();
        logEvaluation(log);
      }
      bool last = state_.step == options_.steps;
      bool stop = interrupt.signal() || (state_.step == run_.stopAfter && !last);
      if (stop || last || (options_.saveEvery && state_.step % options_.saveEvery == 0))
        save();
      if (stop) {
        progress.clear();
        fmt::print("stopped after step {}; {} continues with --resume\n", state_.step, checkpoint_);
        return interrupt.signal() ? 128 + interrupt.signal() : 0;
      }
    }
  }
  // All is saved: from here on Ctrl-C may stop the program at once.
  finish(log);
  return 0;
}

} // namespace

std::string checkpointPath(const std::string &out) { return out + "/checkpoint.safetensors"; }

TrainOptions savedOptions(const std::string &checkpoint) {
  Checkpoint info = readCheckpointInfo(checkpoint);
  try {
    return fromJson(info.run.at("options"));
  } catch (const json::exception &error) {
    fail("checkpoint {}: its description of the run is damaged ({})", checkpoint, error.what());
  }
}

int runTraining(const burin_model &model, const TrainOptions &options, const RunOptions &run) {
  return Run(model, options, run).go();
}

} // namespace burin::runtime
