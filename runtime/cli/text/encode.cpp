// `burin-text encode`.
#include "cli/text/commands.h"
#include "data/text_file.h"
#include "error.h"

namespace burin::runtime {

Action addTextEncode(CLI::App &app) {
  struct Options {
    TokenizerFlags tokenizer;
    Specials specials = Specials::allow;
    int threads = 1;
    std::string file = "-", out = "-";
  };
  CLI::App *command = app.add_subcommand("encode", "write the ids of a text, one a line");
  auto options = std::make_shared<Options>();
  options->tokenizer.add(*command);
  addSpecials(*command, options->specials);
  addNumber(*command, "--threads", options->threads,
            "threads, in [1, 1024]; more than one need a file and hold all of its ids in memory")
      ->capture_default_str();
  addText(*command, "--out", options->out, "file to write, - is standard output")->capture_default_str();
  addText(*command, "FILE", options->file, "the text, - is standard input")->capture_default_str();
  return [=] {
    if (options->threads < 1 || options->threads > 1024)
      throw UsageError(fmt::format("--threads is {}, expected [1, 1024]", options->threads));
    std::unique_ptr<Tokenizer> tokenizer = options->tokenizer.open();
    Output output(options->out);
    std::string lines;
    auto write = [&](std::span<const int32_t> ids) {
      for (int32_t id : ids) {
        lines += fmt::format_int(id).c_str();
        lines += '\n';
        if (lines.size() > (64 << 10)) {
          output.write(lines);
          lines.clear();
        }
      }
    };
    if (options->threads > 1) {
      if (options->file == "-")
        throw UsageError("--threads above 1 needs a file, not standard input");
      const TextFile text(options->file);
      write(encodeParallel(*tokenizer, text.bytes(), options->threads, options->file, options->specials));
    } else {
      Input input(options->file);
      std::unique_ptr<EncodeStream> stream = tokenizer->stream(input.name(), options->specials);
      std::vector<int32_t> ids;
      for (std::string block; input.next(block); ids.clear()) {
        stream->feed(block, ids);
        write(ids);
      }
      stream->finish(ids);
      write(ids);
    }
    output.write(lines);
    output.commit();
    return 0;
  };
}

} // namespace burin::runtime
