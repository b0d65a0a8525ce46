// `MODEL train` and `MODEL eval`.
#include <nlohmann/json.hpp>
#include <set>

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
  auto said = [](const json &value) { return value.is_null() ? "none" : value.dump(); };
  for (auto &[name, value] : options.items()) {
    const CLI::Option *flag = command.get_option_no_throw(flagOf(name));
    bool given =
        (flag && flag->count() > 0) || (name == "schedule" && command.get_option("--constant-lr")->count() > 0);
    if (!given || value == flags.at(name))
      continue;
    if (name != "data") // the same text may lie elsewhere now; whether it is the same is checked
      fmt::print(stderr, "note: {} is now {}, the run began with {}\n", flagOf(name), said(flags.at(name)),
                 said(value));
    value = flags.at(name);
  }
  return fromJson(options);
}

// A resumed run has the tokenizer of its checkpoint; one that is named again must be the same.
void expectSameTokenizer(const std::string &path, const std::string &checkpoint) {
  std::unique_ptr<Tokenizer> saved = savedTokenizer(checkpoint);
  uint64_t now = openTokenizer(path)->hash(), then = saved ? saved->hash() : 0;
  if (now != then)
    fail("the tokenizer {} is not the one that the run was trained with: its hash is {:016x}, the checkpoint's {:016x}",
         path, now, then);
}

struct Flags {
  CLI::App &command;
  std::set<std::string_view> without; // the fields that say nothing to this model

  void operator()(const char *name, bool &field, const char *help) const {
    if (!without.contains(name))
      command.add_flag(flagOf(name), field, help);
  }
  void operator()(const char *name, std::string &field, const char *help) const {
    if (!without.contains(name))
      addText(command, flagOf(name), field, help)->capture_default_str();
  }
  void operator()(const char *name, std::optional<std::string> &field, const char *help) const {
    if (!without.contains(name))
      command.add_option(flagOf(name), field, help);
  }
  template <typename T> void operator()(const char *name, std::optional<T> &field, const char *help) const {
    addNumber(command, flagOf(name), field, help);
  }
  template <typename T> void operator()(const char *name, T &field, const char *help) const {
    addNumber(command, flagOf(name), field, help)->capture_default_str();
  }
};

Corpus openEvalCorpus(const CorpusOptions &options, const std::string &checkpoint) {
  try {
    return openCorpus(options, readCheckpointInfo(checkpoint).run);
  } catch (const json::exception &error) {
    fail("checkpoint {}: its vocabulary is damaged ({})", checkpoint, error.what());
  }
}

} // namespace

Action addTrain(CLI::App &app, const Models &models) {
  const burin_model &model = *models.front();
  const bool points = isRegression(model);
  CLI::App *command = app.add_subcommand("train", points ? "fit the model to points (x, y), or continue a run"
                                                         : "train the model on a text, or continue a run");
  auto options = std::make_shared<TrainOptions>();
  auto run = std::make_shared<RunOptions>();
  run->out = std::string(model.name) + "-run";
  using Names = std::set<std::string_view>;
  visitFields(*options, Flags{*command, points ? Names{"tokens", "tokenizer", "windows", "check"} : Names{"split"}});
  addText(*command, "--out", run->out, "folder for checkpoint.safetensors and log.jsonl")->capture_default_str();
  command->add_flag("--resume", run->resume,
                    "continue the run in --out with its options, except those given anew; the result is the same to "
                    "the bit as without the interruption");
  command->add_flag_callback(
      "--constant-lr", [options] { options->schedule = "constant"; }, "--schedule constant");
  addNumber(*command, "--stop-after", run->stopAfter,
            "save and stop after this step; the schedule stays that of --steps");
  addNumber(*command, "--print-every", run->printEvery, "steps between two progress lines when not on a terminal");
  addDevice(*command, run->device);
  return [=, &models] {
    TrainOptions final = *options;
    if (run->resume) {
      final = resumedOptions(*command, *options, checkpointPath(run->out));
      if (options->tokenizer)
        expectSameTokenizer(*options->tokenizer, checkpointPath(run->out));
    } else if (options->data.empty() && !points) {
      throw UsageError("--data is required: a text or token ids to train on");
    }
    check(final, points);
    checkRange("--stop-after", run->stopAfter, {0, 1e12});
    checkRange("--print-every", run->printEvery, {0, 1e12});
    return runTraining(models, final, *run);
  };
}

Action addEval(CLI::App &app, const Models &models) {
  struct Options {
    std::string data, checkpoint, part = "valid";
    std::optional<double> validFraction;
    DeviceOptions device;
    bool json = false, anyModel = false, check = false;
  };
  CLI::App *command = app.add_subcommand("eval", "loss, perplexity and bits per byte of a checkpoint on a text");
  auto options = std::make_shared<Options>();
  addText(*command, "--data", options->data, "a text, token ids in a file, or a folder of burin-text prepare")
      ->required();
  addText(*command, "--checkpoint", options->checkpoint, "checkpoint.safetensors of a run")->required();
  command->add_flag("--any-model", options->anyModel, "take what a model of another name wrote, if its shapes fit");
  command->add_option("--part", options->part, "valid, train or all of the text")
      ->check(CLI::IsMember({"valid", "train", "all"}))
      ->capture_default_str();
  addNumber(*command, "--valid-fraction", options->validFraction, "as given to train [what was given to train]");
  command->add_flag("--check", options->check, "look at all token ids of the data first");
  command->add_flag("--json", options->json, "print one JSON object");
  addDevice(*command, options->device);
  return [=, &models] {
    if (options->validFraction)
      checkRange("--valid-fraction", *options->validFraction, {0, 0.9, true});
    Device device = openDevice(models, options->device);
    const burin_model &model = device.model();
    const bool all = options->part == "all";
    Corpus corpus = openEvalCorpus({.path = options->data,
                                    .tokens = {},
                                    .tokenizer = {},
                                    .validFraction = options->validFraction,
                                    .whole = all,
                                    .vocab = model.vocab,
                                    .length = LossEntry(device).entry.length,
                                    .check = options->check},
                                   options->checkpoint);
    Part part = all                        ? Part{0, corpus.tokens->size()}
                : options->part == "valid" ? corpus.parts.valid
                                           : corpus.parts.train;
    if (part.size() < 2)
      fail("data file {} is too short: have {} tokens, need 2", options->data, part.size());
    Checkpoint checkpoint = loadCheckpoint(options->checkpoint, device, /*withMoments=*/false);
    if (!options->anyModel)
      expectModel(options->checkpoint, checkpoint, model);
    fmt::print(stderr, "{}: {}\n", options->data, corpus.taken);
    Evaluation result = evaluate(device, *corpus.tokens, part, corpus.tokenizer.get());
    if (options->json) {
      json line = {
          {"model", model.name}, {"loss", result.loss}, {"perplexity", result.perplexity()}, {"tokens", result.tokens}};
      if (result.bytes)
        line.update({{"loss_per_byte", result.lossPerByte()}, {"bits_per_byte", result.bitsPerByte()}});
      fmt::print("{}\n", line.dump());
      return 0;
    }
    fmt::print("loss           {:.4f}  ({} tokens)\nperplexity     {:.3f}\n", result.loss, result.tokens,
               result.perplexity());
    if (result.bytes)
      fmt::print("loss per byte  {:.4f}\nbits per byte  {:.4f}\n", result.lossPerByte(), result.bitsPerByte());
    return 0;
  };
}

} // namespace burin::runtime
