// `MODEL train` and `MODEL eval`.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "device/device.h"
#include "store/checkpoint.h"
#include "train/language_task.h"
#include "train/run.h"

namespace burin::runtime {
namespace {

using nlohmann::json;

// A resumed run keeps every option that the command line does not name; what it does change is said.
TrainOptions resumedOptions(const CLI::App &command, const TrainOptions &given, const std::string &checkpoint) {
  json options = toJson(savedOptions(checkpoint)), flags = toJson(given);
  for (auto &[name, value] : options.items()) {
    const CLI::Option *flag = command.get_option_no_throw(flagOf(name));
    bool given =
        (flag && flag->count() > 0) || (name == "schedule" && command.get_option("--constant-lr")->count() > 0);
    if (!given || value == flags.at(name))
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
  std::string_view without; // the field that says nothing to this model

  void operator()(const char *name, bool &field, const char *help) const {
    command.add_flag(flagOf(name), field, help);
  }
  void operator()(const char *name, std::string &field, const char *help) const {
    if (name != without)
      addText(command, flagOf(name), field, help)->capture_default_str();
  }
  void operator()(const char *name, std::optional<std::string> &field, const char *help) const {
    if (name != without)
      command.add_option(flagOf(name), field, help);
  }
  template <typename T> void operator()(const char *name, std::optional<T> &field, const char *help) const {
    addNumber(command, flagOf(name), field, help);
  }
  template <typename T> void operator()(const char *name, T &field, const char *help) const {
    addNumber(command, flagOf(name), field, help)->capture_default_str();
  }
};

} // namespace

Action addTrain(CLI::App &app, const burin_model &model) {
  const bool points = isRegression(model);
  CLI::App *command = app.add_subcommand("train", points ? "fit the model to points (x, y), or continue a run"
                                                         : "train the model on a text, or continue a run");
  auto options = std::make_shared<TrainOptions>();
  auto run = std::make_shared<RunOptions>();
  run->out = std::string(model.name) + "-run";
  if (points)
    options->validFraction = regressionValidFraction;
  visitFields(*options, Flags{*command, points ? "tokens" : "split"});
  addText(*command, "--out", run->out, "folder for checkpoint.safetensors and log.jsonl")->capture_default_str();
  command->add_flag("--resume", run->resume,
                    "continue the run in --out with its options, except those given anew; the result is the same to "
                    "the bit as without the interruption");
  command->add_flag_callback(
      "--constant-lr", [options] { options->schedule = "constant"; }, "--schedule constant");
  addNumber(*command, "--stop-after", run->stopAfter,
            "save and stop after this step; the schedule stays that of --steps");
  addNumber(*command, "--print-every", run->printEvery, "steps between two progress lines when not on a terminal");
  addThreads(*command, run->threads);
  return [=, &model] {
    TrainOptions final = *options;
    if (run->resume)
      final = resumedOptions(*command, *options, checkpointPath(run->out));
    else if (options->data.empty() && !points)
      throw UsageError("--data is required: a text file to train on");
    check(final, points);
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
    bool json = false, anyModel = false;
  };
  CLI::App *command = app.add_subcommand("eval", "loss, perplexity and bits per byte of a checkpoint on a text");
  auto options = std::make_shared<Options>();
  addText(*command, "--data", options->data, "text file")->required();
  addText(*command, "--checkpoint", options->checkpoint, "checkpoint.safetensors of a run")->required();
  command->add_flag("--any-model", options->anyModel, "take what a model of another name wrote, if its shapes fit");
  command->add_option("--part", options->part, "valid, train or all of the text")
      ->check(CLI::IsMember({"valid", "train", "all"}))
      ->capture_default_str();
  addNumber(*command, "--valid-fraction", options->validFraction, "as given to train")->capture_default_str();
  command->add_flag("--json", options->json, "print one JSON object");
  addThreads(*command, options->threads);
  return [=, &model] {
    checkRange("--valid-fraction", options->validFraction, {0, 0.9, true});
    TextFile text(options->data);
    std::unique_ptr<Tokenizer> tokenizer = savedTokenizer(options->checkpoint);
    useTokenizer(text, *tokenizer, model.vocab);
    Device device(model, options->threads);
    Part part{0, text.size()};
    if (options->part != "all") {
      Parts parts = split(text, options->validFraction, LossEntry(device).entry.length);
      part = options->part == "valid" ? parts.valid : parts.train;
    } else if (text.size() < 2) {
      fail("data file {} is too short: have {} tokens, need 2", text.path(), text.size());
    }
    Checkpoint checkpoint = loadCheckpoint(options->checkpoint, device, /*withMoments=*/false);
    if (!options->anyModel)
      expectModel(options->checkpoint, checkpoint, model);
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
