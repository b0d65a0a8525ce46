// `burin-text convert`.
#include <cstdio>

#include "cli/text/commands.h"
#include "error.h"
#include "text/bpe.h"
#include "text/formats.h"

namespace burin::runtime {

Action addTextConvert(CLI::App &app) {
  struct Options {
    TokenizerFlags tokenizer;
    std::string out;
  };
  CLI::App *command = app.add_subcommand("convert", "write a tokenizer as tokenizer.json, vocab.json and merges.txt");
  auto options = std::make_shared<Options>();
  options->tokenizer.add(*command);
  addText(*command, "--out", options->out, "folder for the files")->required();
  return [=] {
    std::unique_ptr<Tokenizer> tokenizer = options->tokenizer.open();
    const auto *bpe = dynamic_cast<const BpeTokenizer *>(tokenizer.get());
    if (!bpe)
      throw UsageError(fmt::format("the tokenizer '{}' has no file", options->tokenizer.path));
    const std::vector<std::string> names = writeTokenizer(bpe->model(), options->out);
    for (const std::string &name : names)
      fmt::print("{}/{}\n", options->out, name);
    if (names.size() == 1)
      fmt::print(stderr, "note: vocab.json and merges.txt cannot say what this tokenizer does with its pre-tokens, so "
                         "only tokenizer.json is written\n");
    return 0;
  };
}

} // namespace burin::runtime
