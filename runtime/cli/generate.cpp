// `MODEL generate`.
#include "cli/commands.h"
#include "device/device.h"
#include "store/checkpoint.h"
#include "text/sampler.h"
#include "train/language_task.h"
#include "train/options.h"

namespace burin::runtime {

Action addGenerate(CLI::App &app, const burin_model &model) {
  struct Options {
    std::string checkpoint;
    std::optional<std::string> prompt;
    int64_t count = 300;
    SampleOptions sample;
    int threads = 0;
    bool anyModel = false;
  };
  CLI::App *command = app.add_subcommand("generate", "continue a prompt with text that the model writes");
  auto options = std::make_shared<Options>();
  addText(*command, "--checkpoint", options->checkpoint, "checkpoint.safetensors of a run")->required();
  command->add_flag("--any-model", options->anyModel, "take what a model of another name wrote, if its shapes fit");
  command->add_option("--prompt", options->prompt,
                      "text to continue [a line break, or the first of the model's characters]");
  addNumber(*command, "--count", options->count, "tokens to write, in [1, 1000000]")->capture_default_str();
  addNumber(*command, "--temperature", options->sample.temperature, "in [0, 100]; 0 takes the most likely token")
      ->capture_default_str();
  addNumber(*command, "--top-k", options->sample.topK, "draw from the k most likely tokens; 0: from all")
      ->capture_default_str();
  addNumber(*command, "--top-p", options->sample.topP, "draw from the most likely tokens that reach p together, (0, 1]")
      ->capture_default_str();
  addNumber(*command, "--seed", options->sample.seed, "seed of the draws, in [0, 9e18]")->capture_default_str();
  addThreads(*command, options->threads);
  return [=, &model] {
    checkRange("--count", static_cast<double>(options->count), {1, 1e6});
    checkRange("--temperature", options->sample.temperature, {0, 100});
    checkRange("--top-k", static_cast<double>(options->sample.topK), {0, 1e12});
    checkRange("--seed", static_cast<double>(options->sample.seed), {0, 9e18});
    checkRange("--top-p", options->sample.topP, {0, 1, true});
    Device device(model, options->threads);
    Checkpoint checkpoint = loadCheckpoint(options->checkpoint, device, /*withMoments=*/false);
    if (!options->anyModel)
      expectModel(options->checkpoint, checkpoint, model);
    auto write = [](const std::string &text) {
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
    };
    std::unique_ptr<Tokenizer> tokenizer = savedTokenizer(options->checkpoint);
    const std::string prompt = options->prompt.value_or(tokenizer->start());
    bool started = false; // the prompt is printed with the first token, once it is known to be usable
    generate(device, *tokenizer, prompt, options->count, options->sample, [&](const std::string &text) {
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
