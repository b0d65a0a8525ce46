// The order within a step is: compute, log, evaluate, save. A checkpoint therefore stands for everything logged up to
// its step, and resuming cuts the log there.
#include "train/run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "store/checkpoint.h"
#include "train/initialize.h"
#include "train/interrupt.h"
#include "train/progress.h"
#include "train/run_log.h"
#include "train/task.h"

namespace burin::runtime {
namespace {

using nlohmann::json;

// How far a run has come: with the options and the weights all that a resumed run needs.
struct State {
  int64_t step = 0;
  int64_t updates = 0;  // applied ones; a skipped step does not count
  uint64_t windows = 0; // drawn from the data; of a regression, points
  int64_t skipped = 0, skippedInRow = 0;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(State, step, updates, windows, skipped, skippedInRow)

using Clock = std::chrono::steady_clock;

// A step that was begun and not yet logged.
struct Begun {
  int64_t number = 0;
  double lr = 0;
  uint64_t windows = 0; // as State::windows after it
  Clock::time_point start;
  Underway results{};
};

class Run {
public:
  Run(const Models &models, const TrainOptions &options, const RunOptions &run)
      : options_(options), run_(run), checkpoint_(checkpointPath(run.out)), device_(openDevice(models, run.device)),
        trainer_(device_), task_(makeTask(device_, options, run.resume ? readCheckpointInfo(checkpoint_).run : json())),
        folder_(run.out) {}

  int go();

private:
  void start();
  void resume();
  // Begins a step, and with a device that runs ahead, leaves it at that: `settle` then waits for it and logs it. So the
  // state, and with it a checkpoint, is that of settled steps.
  void step(RunLog &log, Progress &progress);
  void settle(RunLog &log, Progress &progress, bool last = true);
  int64_t begunSteps() const { return state_.step + (begun_ ? 1 : 0); }
  void logEvaluation(RunLog &log);
  void save();
  void finish(RunLog &log);
  int64_t perStep() const { return options_.accumulate * task_->perBatch(); }

  const TrainOptions &options_;
  const RunOptions &run_;
  std::string checkpoint_;
  Device device_;
  Trainer trainer_;
  std::unique_ptr<Task> task_;
  OutputFolder folder_; // last, so that what is refused leaves none behind
  State state_;
  std::optional<Begun> begun_;
  Clock::time_point settled_{};
  int64_t savedStep_ = -1;
};

void Run::start() {
  if (std::filesystem::exists(checkpoint_))
    fmt::print(stderr, "note: {} holds an earlier run, which this one replaces\n", run_.out);
  initialize(device_, static_cast<uint64_t>(options_.seed));
  save(); // so that from here on there is always a checkpoint, and it belongs to the log
}

void Run::resume() {
  Checkpoint loaded = loadCheckpoint(checkpoint_, device_, /*withMoments=*/true);
  try {
    state_ = loaded.run.at("state").get<State>();
    if (std::min({state_.step, state_.updates, state_.skipped, state_.skippedInRow}) < 0)
      fail("checkpoint {}: its description of the run has a negative count", checkpoint_);
    const json now = task_->fingerprint(), then = loaded.run.at("data");
    if (now.at("bytes") != then.at("bytes") || now.at("fingerprint") != then.at("fingerprint"))
      fail("data file {} is not the data that the run in {} was trained on ({} bytes now, {} then)", options_.data,
           run_.out, now.at("bytes").dump(), then.at("bytes").dump());
    if (then.contains("train") && now != then) // earlier versions did not save it
      fail("data file {} is cut elsewhere than when the run in {} began ({} {} to train on now, {} then): what it was "
           "trained on would be validated on; the cut must stay as it was",
           options_.data, run_.out, now.at("train").dump(), task_->unit(), then.at("train").dump());
  } catch (const json::exception &error) {
    fail("checkpoint {}: its description of the run is damaged ({})", checkpoint_, error.what());
  }
  expectModel(checkpoint_, loaded, device_.model());
  if (state_.step > options_.steps)
    fail("checkpoint {} is at step {}, beyond the {} steps of this run", checkpoint_, state_.step, options_.steps);
  if (run_.stopAfter && run_.stopAfter <= state_.step)
    throw UsageError(fmt::format("--stop-after is {}, but the run in {} is at step {} already", run_.stopAfter,
                                 run_.out, state_.step));
  savedStep_ = state_.step;
}

void Run::step(RunLog &log, Progress &progress) {
  Begun next{.number = begunSteps() + 1, .start = Clock::now()};
  next.lr = learningRate(options_, next.number);
  task_->seek(options_.fixedBatch ? 0 : begun_ ? begun_->windows : state_.windows, next.number);
  next.results = trainer_.gradients(*task_, options_.accumulate);
  next.windows = task_->drawn();
  if (begun_) // how many updates there were, is known then
    settle(log, progress, /*last=*/false);
  trainer_.update(next.results, options_.adamw, next.lr, state_.updates + 1);
  begun_ = std::move(next);
  if (!device_.runsAhead())
    settle(log, progress);
}

// `last`: no further step was begun.
void Run::settle(RunLog &log, Progress &progress, bool last) {
  if (!begun_)
    return;
  Begun done = std::move(*begun_);
  begun_.reset();
  const StepResult result = trainer_.result(done.results, last);
  const double lr = done.lr;
  const Clock::time_point now = Clock::now();
  // Steps that overlap share the time.
  const double seconds = std::chrono::duration<double>(now - std::max(done.start, settled_)).count();
  settled_ = now;

  state_.step = done.number;
  state_.windows = done.windows;
  nlohmann::ordered_json line = {{"event", "step"},
                                 {"step", state_.step},
                                 {"loss", result.loss},
                                 {"lr", lr},
                                 {"grad_norm", result.gradNorm},
                                 {task_->unit(), state_.step * perStep()},
                                 {"ms", seconds * 1e3},
                                 {task_->unit() + "_per_s", static_cast<double>(perStep()) / seconds}};
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
  nlohmann::ordered_json valid = task_->validate(), line = {{"event", "valid"}, {"step", state_.step}};
  if (valid.empty())
    return;
  fmt::print("step {}  validation loss {:.4f}\n", state_.step, valid.at("valid_loss").get<double>());
  line.update(valid);
  log.write(line);
}

void Run::save() {
  if (savedStep_ == state_.step)
    return;
  json options = toJson(options_);
  if (!options_.data.empty())
    options["data"] = std::filesystem::absolute(options_.data).string(); // a run may be resumed from another folder
  json run = {{"options", options}, {"state", state_}, {"data", task_->fingerprint()}};
  run.update(task_->saved());
  saveCheckpoint(checkpoint_, device_, run);
  savedStep_ = state_.step;
}

void Run::finish(RunLog &log) {
  nlohmann::ordered_json valid = task_->validate(), line = {{"event", "end"}, {"step", state_.step}};
  line.update(valid);
  line["skipped"] = state_.skipped;
  line["checkpoint"] = checkpoint_;
  log.write(line);
  if (state_.skipped)
    fmt::print("skipped steps    {}\n", state_.skipped);
  if (!valid.empty())
    task_->report(valid);
  fmt::print("checkpoint       {}\n", checkpoint_);
  task_->sample();
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
               // Not the number of threads: it changes nothing in a run.
               {"device", device_.runsAhead() ? device_.name() : "cpu"},
               {"source_revision", model.source_revision},
               {"parameters", model.parameter_count},
               {"options", toJson(options_)}});

  fmt::print("{}: {} parameters, {} {} a step, {}; {}\n", model.name, model.parameter_count, perStep(), task_->unit(),
             device_.name(), task_->dataText());
  if (run_.resume)
    fmt::print("continues after step {}\n", state_.step);
  auto accumulate = static_cast<double>(options_.accumulate);
  int64_t printEvery = run_.printEvery ? run_.printEvery : std::max<int64_t>(1, options_.steps / 60);
  {
    Interrupt interrupt;
    Progress progress(
        options_.steps, static_cast<double>(perStep()), task_->unit(), accumulate * model.flops_per_step,
        [&] { return device_.peak(0.05); }, printEvery);
    while (state_.step < options_.steps) {
      step(log, progress);
      const int64_t begun = begunSteps();
      if (options_.evalEvery && begun % options_.evalEvery == 0 && begun < options_.steps) {
        settle(log, progress);
        progress.clear();
        logEvaluation(log);
      }
      bool last = begun == options_.steps;
      bool stop = interrupt.signal() || (begun == run_.stopAfter && !last);
      if (stop || last || (options_.saveEvery && begun % options_.saveEvery == 0)) {
        settle(log, progress);
        save();
      }
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
    TrainOptions options = fromJson(info.run.at("options"));
    check(options, /*points=*/true); // what a text needs more is checked with the flags
    return options;
  } catch (const UsageError &error) {
    fail("checkpoint {}: its description of the run is damaged ({})", checkpoint, error.what());
  } catch (const json::exception &error) {
    fail("checkpoint {}: its description of the run is damaged ({})", checkpoint, error.what());
  }
}

int runTraining(const Models &models, const TrainOptions &options, const RunOptions &run) {
  return Run(models, options, run).go();
}

} // namespace burin::runtime
