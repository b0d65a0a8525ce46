// `MODEL generate`.
#include "cli/commands.h"
#include "device/device.h"
#include "store/checkpoint.h"
#include "text/sampler.h"
#include "train/options.h"

namespace burin::runtime {

Action addGenerate(CLI::App &app, const burin_model &model) {
  struct Options {
    std::string checkpoint, prompt = "\n";
    int64_t count = 300;
    SampleOptions sample;
    int threads = 0;
  };
  CLI::App *command = app.add_subcommand("generate", "continue a prompt with text that the model writes");
  auto options = std::make_shared<Options>();
  command->add_option("--checkpoint", options->checkpoint, "checkpoint.safetensors of a run")->required();
  command->add_option("--prompt", options->prompt, "text to continue [a line break]");
  command->add_option("--count", options->count, "tokens to write, in [1, 1000000]")->capture_default_str();
  command->add_option("--temperature", options->sample.temperature, "in [0, 100]; 0 takes the most likely token")
      ->capture_default_str();
  command->add_option("--top-k", options->sample.topK, "draw from the k most likely tokens; 0: from all")
      ->capture_default_str();
  command->add_option("--top-p", options->sample.topP, "draw from the most likely tokens that reach p together, (0, 1]")
      ->capture_default_str();
  command->add_option("--seed", options->sample.seed, "seed of the draws, in [0, 9e18]")->capture_default_str();
  addThreads(*command, options->threads);
  return [=, &model] {
    checkRange("--count", static_cast<double>(options->count), {1, 1e6});
    checkRange("--temperature", options->sample.temperature, {0, 100});
    checkRange("--top-k", static_cast<double>(options->sample.topK), {0, 1e12});
    checkRange("--seed", static_cast<double>(options->sample.seed), {0, 9e18});
    checkRange("--top-p", options->sample.topP, {0, 1, true});
    Device device(model, options->threads);
    Checkpoint checkpoint = loadCheckpoint(options->checkpoint, device, /*withMoments=*/false);
    if (checkpoint.model != model.name)
      fmt::print(stderr, "note: {} was written by model '{}'\n", options->checkpoint, checkpoint.model);
    auto write = [](const std::string &text) {
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
    };
    ByteTokenizer tokenizer;
    bool started = false; // the prompt is printed with the first token, once it is known to be usable
    generate(device, tokenizer, options->prompt, options->count, options->sample, [&](const std::string &text) {
      if (!started)
        write(options->prompt);
      started = true;
      write(text);
    });
    write("\n");
    return 0;
  };
}

} // namespace burin::runtime
