// `burin-text train`.
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "cli/text/commands.h"
#include "device/device.h"
#include "error.h"
#include "text/bpe_train.h"
#include "text/formats.h"

namespace burin::runtime {
namespace {

// One line that rewrites itself, on a terminal alone.
class ProgressLine {
public:
  void show(const char *part, uint64_t done, uint64_t of) {
    if (!terminal_)
      return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100))
      return;
    last_ = now;
    fmt::print(stderr, "\r\x1b[K{} {:.0f} %", part,
               of ? 100.0 * static_cast<double>(done) / static_cast<double>(of) : 100);
    std::fflush(stderr);
    shown_ = true;
  }
  ~ProgressLine() {
    if (shown_)
      std::fputs("\r\x1b[K", stderr);
  }

private:
  bool terminal_ = isatty(STDERR_FILENO), shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

} // namespace

Action addTextTrain(CLI::App &app) {
  struct Options {
    TrainBpe train{.pattern = "gpt2", .threads = 0};
    int64_t memory = 2048;
    std::string out;
    std::vector<std::string> files;
  };
  CLI::App *command = app.add_subcommand("train", "learn a byte-level BPE vocabulary from texts");
  auto options = std::make_shared<Options>();
  addNumber(*command, "--vocab", options->train.vocab, "tokens: 256 bytes, merges and special tokens")->required();
  command->add_option("--special", options->train.specials,
                      "a special token, cut out before anything is learnt; may be given more than once");
  command
      ->add_option("--pattern", options->train.pattern,
                   "how text is cut into pre-tokens: gpt2, cl100k, o200k or a regular expression")
      ->capture_default_str();
  addNumber(*command, "--memory", options->memory,
            "megabytes that may be held of the texts, in [1, 1000000]: parts being read, and the different pre-tokens")
      ->capture_default_str();
  addThreads(*command, options->train.threads);
  addText(*command, "--out", options->out, "folder for tokenizer.json, vocab.json and merges.txt")->required();
  command->add_option("FILE", options->files, "texts; their order makes no difference")->required();
  return [=] {
    if (options->memory < 1 || options->memory > 1000000)
      throw UsageError(fmt::format("--memory is {}, expected [1, 1000000]", options->memory));
    TrainBpe train = options->train;
    train.pattern = patternOf(train.pattern);
    train.memory = static_cast<uint64_t>(options->memory) << 20;
    if (train.threads == 0)
      train.threads = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    (void)OutputFolder(options->out); // what cannot be written shows before the work
    const auto begin = std::chrono::steady_clock::now();
    BpeModel model;
    {
      ProgressLine progress;
      train.progress = [&](const char *part, uint64_t done, uint64_t of) { progress.show(part, done, of); };
      model = trainBpe(options->files, train);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    if (static_cast<int64_t>(model.tokens.size()) < train.vocab)
      fmt::print(stderr, "note: no pair is left after {} merges, so there are {} tokens, not {}\n", model.merges.size(),
                 model.tokens.size(), train.vocab);
    std::string files;
    for (const std::string &name : writeTokenizer(model, options->out))
      files += (files.empty() ? "" : ", ") + name;
    fmt::print("{} tokens: 256 bytes, {} merges, {} special; {:.2f} s\n{}: {}\n", model.tokens.size(),
               model.merges.size(), model.specials.size(), seconds.count(), options->out, files);
    return 0;
  };
}

} // namespace burin::runtime
