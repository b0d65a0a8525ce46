// `MODEL train` and `MODEL eval`.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "device/device.h"
#include "store/checkpoint.h"
#include "train/run.h"
#include "train/trainer.h"

namespace burin::runtime {
namespace {

using nlohmann::json;

// A resumed run keeps every option that the command line does not name; what it does change is said.
TrainOptions resumedOptions(const CLI::App &command, const TrainOptions &given, const std::string &checkpoint) {
  json options = toJson(savedOptions(checkpoint)), flags = toJson(given);
  for (auto &[name, value] : options.items()) {
    if (command.get_option(flagOf(name))->count() == 0 || value == flags.at(name))
      continue;
    if (name != "data") // the same text may lie elsewhere now; whether it is the same is checked
      fmt::print(stderr, "note: {} is now {}, the run began with {}\n", flagOf(name), flags.at(name).dump(),
                 value.dump());
    value = flags.at(name);
  }
  return fromJson(options);
}

struct Flags {
  CLI::App &command;

  void operator()(const char *name, bool &field, const char *help) const {
    command.add_flag(flagOf(name), field, help);
  }
  template <typename T> void operator()(const char *name, std::optional<T> &field, const char *help) const {
    command.add_option(flagOf(name), field, help);
  }
  template <typename T> void operator()(const char *name, T &field, const char *help) const {
    command.add_option(flagOf(name), field, help)->capture_default_str();
  }
};

} // namespace

void addThreads(CLI::App &command, int &threads) {
  command.add_option("--threads", threads, "threads to compute with; results do not depend on it [all]")
      ->check(CLI::Range(1, maxThreads));
}

Action addTrain(CLI::App &app, const burin_model &model) {
  CLI::App *command = app.add_subcommand("train", "train the model on a text, or continue a run");
  auto options = std::make_shared<TrainOptions>();
  auto run = std::make_shared<RunOptions>();
  run->out = std::string(model.name) + "-run";
  visitFields(*options, Flags{*command});
  command->add_option("--out", run->out, "folder for checkpoint.safetensors and log.jsonl")->capture_default_str();
  command->add_flag("--resume", run->resume,
                    "continue the run in --out with its options, except those given anew; the result is the same to "
                    "the bit as without the interruption");
  command->add_flag_callback(
      "--constant-lr", [options] { options->schedule = "constant"; }, "--schedule constant");
  command->add_option("--stop-after", run->stopAfter,
                      "save and stop after this step; the schedule stays that of --steps");
  command->add_option("--print-every", run->printEvery, "steps between two progress lines when not on a terminal");
  addThreads(*command, run->threads);
  return [=, &model] {
    TrainOptions final = *options;
    if (run->resume)
      final = resumedOptions(*command, *options, checkpointPath(run->out));
    else if (options->data.empty())
      throw UsageError("--data is required: a text file to train on");
    check(final);
    checkRange("--stop-after", static_cast<double>(run->stopAfter), {0, 1e12});
    checkRange("--print-every", static_cast<double>(run->printEvery), {0, 1e12});
    return runTraining(model, final, *run);
  };
}

Action addEval(CLI::App &app, const burin_model &model) {
  struct Options {
    std::string data, checkpoint, part = "valid";
    double validFraction = 0.1;
    int threads = 0;
    bool json = false;
  };
  CLI::App *command = app.add_subcommand("eval", "loss, perplexity and bits per byte of a checkpoint on a text");
  auto options = std::make_shared<Options>();
  command->add_option("--data", options->data, "text file")->required();
  command->add_option("--checkpoint", options->checkpoint, "checkpoint.safetensors of a run")->required();
  command->add_option("--part", options->part, "valid, train or all of the text")
      ->check(CLI::IsMember({"valid", "train", "all"}))
      ->capture_default_str();
  command->add_option("--valid-fraction", options->validFraction, "as given to train")->capture_default_str();
  command->add_flag("--json", options->json, "print one JSON object");
  addThreads(*command, options->threads);
  return [=, &model] {
    checkRange("--valid-fraction", options->validFraction, {0, 0.9, true});
    TextFile text(options->data, model.vocab);
    Device device(model, options->threads);
    Part part{0, text.size()};
    if (options->part != "all") {
      Parts parts = split(text, options->validFraction, LossEntry(device).entry.length);
      part = options->part == "valid" ? parts.valid : parts.train;
    } else if (text.size() < 2) {
      fail("data file {} is too short: have {} tokens, need 2", text.path(), text.size());
    }
    Checkpoint checkpoint = loadCheckpoint(options->checkpoint, device, /*withMoments=*/false);
    if (checkpoint.model != model.name)
      fmt::print(stderr, "note: {} was written by model '{}'\n", options->checkpoint, checkpoint.model);
    Evaluation result = evaluate(device, text, part);
    if (options->json)
      fmt::print("{}\n", json({{"model", model.name},
                               {"loss", result.loss},
                               {"perplexity", result.perplexity()},
                               {"bits_per_byte", result.bitsPerByte()},
                               {"tokens", result.tokens}})
                             .dump());
    else
      fmt::print("loss           {:.4f}  ({} tokens)\nperplexity     {:.3f}\nbits per byte  {:.4f}\n", result.loss,
                 result.tokens, result.perplexity(), result.bitsPerByte());
    return 0;
  };
}

} // namespace burin::runtime
