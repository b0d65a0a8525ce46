// `burin-text prepare`.
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "cli/text/commands.h"
#include "data/prepare.h"
#include "error.h"
#include "train/options.h"

namespace burin::runtime {
namespace {

// One line that rewrites itself on a terminal; elsewhere a line for each tenth.
class PrepareProgress {
public:
  void show(uint64_t bytes, uint64_t allBytes, uint64_t tokens) {
    const auto now = Clock::now();
    const uint64_t tenth = allBytes ? 10 * bytes / allBytes : 10;
    if (terminal_ ? now - last_ < std::chrono::milliseconds(100) && bytes < allBytes : tenth == tenth_)
      return;
    last_ = now;
    tenth_ = tenth;
    fmt::print(stderr, "{}{:.0f} %  {} tokens  {:.1f} MB/s{}", terminal_ ? "\r\x1b[K" : "",
               allBytes ? 100.0 * static_cast<double>(bytes) / static_cast<double>(allBytes) : 100, tokens,
               static_cast<double>(bytes) / 1e6 / std::chrono::duration<double>(now - begin_).count(),
               terminal_ ? "" : "\n");
    std::fflush(stderr);
  }
  ~PrepareProgress() {
    if (terminal_)
      std::fputs("\r\x1b[K", stderr);
  }

private:
  using Clock = std::chrono::steady_clock;
  const bool terminal_ = isatty(STDERR_FILENO);
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point last_{};
  uint64_t tenth_ = 0;
};

} // namespace

Action addTextPrepare(CLI::App &app) {
  struct Options {
    TokenizerFlags tokenizer;
    PrepareOptions prepare;
  };
  CLI::App *command = app.add_subcommand(
      "prepare", "make a folder of token ids, which `MODEL train --data` maps, from texts or files of ids");
  auto options = std::make_shared<Options>();
  options->tokenizer.add(*command);
  PrepareOptions &prepared = options->prepare;
  addText(*command, "--out", prepared.out, "folder for the shards and prepared.json")->required();
  addNumber(*command, "--valid", prepared.validFraction,
            "share kept for validation, in [0, 0.9]: the end of the texts, from the next document on")
      ->capture_default_str();
  addNumber(*command, "--shard-tokens", prepared.shardTokens, "ids in a shard, in [1000, 1000000000000]")
      ->capture_default_str();
  command->add_flag("--text", prepared.texts, "every FILE is a text, even if it looks like token ids");
  command
      ->add_option("FILE", prepared.files,
                   "texts; or ids of the same tokenizer: raw 16-bit ones (nanoGPT), llm.c shards, .npy, shards of "
                   "burin-text")
      ->required();
  return [=] {
    checkRange("--valid", options->prepare.validFraction, {0, 0.9});
    checkRange("--shard-tokens", options->prepare.shardTokens, {1000, 1e12});
    std::unique_ptr<Tokenizer> tokenizer = options->tokenizer.open();
    if (!tokenizer->endOfText())
      fmt::print(stderr,
                 "note: this tokenizer has no <|endoftext|>: documents are joined without a mark between them\n");
    PrepareResult result;
    {
      PrepareProgress progress;
      result = prepare(
          *tokenizer, options->prepare,
          {.file = [](const std::string &path,
                      const std::string &taken) { fmt::print(stderr, "{}: {}\n", path, taken); },
           .progress = [&](uint64_t bytes, uint64_t all, uint64_t tokens) { progress.show(bytes, all, tokens); }});
    }
    const auto tokens = static_cast<double>(result.trainTokens + result.validTokens);
    fmt::print("{}: {} tokens to train on, {} ({:.2g} %) to validate, {} bits each, in {} shards{}\n",
               options->prepare.out, result.trainTokens, result.validTokens,
               100 * static_cast<double>(result.validTokens) / tokens, 8 * result.width, result.shards,
               result.texts ? fmt::format("; {:.2f} bytes per token", static_cast<double>(result.bytes) / tokens) : "");
    return 0;
  };
}

} // namespace burin::runtime
