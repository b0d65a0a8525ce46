// `MODEL generate`.
#include "cli/commands.h"
#include "device/device.h"
#include "store/checkpoint.h"
#include "text/sampler.h"
#include "train/language_task.h"
#include "train/options.h"

namespace burin::runtime {
namespace {

std::unique_ptr<Tokenizer> tokenizerOf(const std::string &checkpoint, const std::optional<std::string> &named) {
  std::unique_ptr<Tokenizer> saved = savedTokenizer(checkpoint), given = named ? openTokenizer(*named) : nullptr;
  if (saved && given && saved->hash() != given->hash())
    fail("the tokenizer {} is not the one in checkpoint {}: its hash is {:016x}, the checkpoint's {:016x}", *named,
         checkpoint, given->hash(), saved->hash());
  if (!saved && !given)
    fail("checkpoint {}: trained on token ids without a tokenizer; --tokenizer says what they mean", checkpoint);
  return saved ? std::move(saved) : std::move(given);
}

} // namespace

Action addGenerate(CLI::App &app, const Models &models) {
  struct Options {
    std::string checkpoint;
    std::optional<std::string> prompt, tokenizer;
    int64_t count = 300;
    SampleOptions sample;
    DeviceOptions device;
    bool anyModel = false;
  };
  CLI::App *command = app.add_subcommand("generate", "continue a prompt with text that the model writes");
  auto options = std::make_shared<Options>();
  addText(*command, "--checkpoint", options->checkpoint, "checkpoint.safetensors of a run")->required();
  command->add_flag("--any-model", options->anyModel, "take what a model of another name wrote, if its shapes fit");
  command->add_option("--prompt", options->prompt,
                      "text to continue [the beginning of a text: after an end-of-text token, or else a line break or "
                      "the first of the model's characters]");
  command->add_option("--tokenizer", options->tokenizer, "for a checkpoint without one: what the ids mean");
  addNumber(*command, "--count", options->count, "most tokens to write, in [1, 1000000]")->capture_default_str();
  command->add_flag("--past-end", options->sample.pastEnd, "go on where the text ends, up to --count tokens");
  addNumber(*command, "--temperature", options->sample.temperature, "in [0, 100]; 0 takes the most likely token")
      ->capture_default_str();
  addNumber(*command, "--top-k", options->sample.topK, "draw from the k most likely tokens; 0: from all")
      ->capture_default_str();
  addNumber(*command, "--top-p", options->sample.topP, "draw from the most likely tokens that reach p together, (0, 1]")
      ->capture_default_str();
  addNumber(*command, "--seed", options->sample.seed, "seed of the draws, in [0, 9000000000000000000]")
      ->capture_default_str();
  addDevice(*command, options->device);
  return [=, &models] {
    checkRange("--count", options->count, {1, 1e6});
    checkRange("--temperature", options->sample.temperature, {0, 100});
    checkRange("--top-k", options->sample.topK, {0, 1e12});
    checkRange("--seed", options->sample.seed, {0, 9e18});
    checkRange("--top-p", options->sample.topP, {0, 1, true});
    Device device = openDevice(models, options->device);
    Checkpoint checkpoint = loadCheckpoint(options->checkpoint, device, /*withMoments=*/false);
    if (!options->anyModel)
      expectModel(options->checkpoint, checkpoint, device.model());
    auto write = [](const std::string &text) {
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
    };
    std::unique_ptr<Tokenizer> tokenizer = tokenizerOf(options->checkpoint, options->tokenizer);
    const std::string prompt = options->prompt.value_or(tokenizer->endOfText() ? "" : tokenizer->start());
    const std::vector<int32_t> ids = options->prompt ? tokenizer->encode(prompt, "the prompt") : startIds(*tokenizer);
    bool started = false; // the prompt is printed with the first token, once it is known to be usable
    generate(device, *tokenizer, ids, options->count, options->sample, [&](const std::string &text) {
      if (!started)
        write(prompt);
      started = true;
      write(text);
    });
    write("\n");
    return 0;
  };
}

} // namespace burin::runtime
