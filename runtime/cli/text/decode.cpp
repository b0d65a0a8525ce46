// `burin-text decode`.
#include <charconv>

#include "cli/text/commands.h"
#include "error.h"
#include "text/utf8.h"

namespace burin::runtime {

Action addTextDecode(CLI::App &app) {
  struct Options {
    TokenizerFlags tokenizer;
    bool replace = false;
    std::string file = "-", out = "-";
  };
  CLI::App *command = app.add_subcommand("decode", "write the text of ids");
  auto options = std::make_shared<Options>();
  options->tokenizer.add(*command);
  command->add_flag("--replace", options->replace, "write U+FFFD for bytes that are no UTF-8, instead of the bytes");
  addText(*command, "--out", options->out, "file to write, - is standard output")->capture_default_str();
  addText(*command, "FILE", options->file, "ids in decimal with white space between them, - is standard input")
      ->capture_default_str();
  return [=] {
    std::unique_ptr<Tokenizer> tokenizer = options->tokenizer.open();
    Input input(options->file);
    Output output(options->out);
    DecodeStream stream(*tokenizer, options->replace ? DecodeStream::replace : DecodeStream::keep);
    std::vector<int32_t> ids;
    std::string number; // may continue in the next block
    uint64_t count = 0;
    auto take = [&] {
      if (number.empty())
        return;
      ++count;
      int32_t id = -1;
      auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), id);
      if (error != std::errc{} || stop != number.data() + number.size() || id < 0 || id >= tokenizer->vocab())
        fail("{}: number {} is '{}', expected an id in [0, {})", input.name(), count, wellFormed(number.substr(0, 40)),
             tokenizer->vocab());
      ids.push_back(id);
      number.clear();
    };
    for (std::string block; input.next(block); ids.clear()) {
      for (char c : block) {
        if (c == ' ' || (c >= '\t' && c <= '\r'))
          take();
        else if (number.size() < 64) // longer ones are none, and need not be kept
          number += c;
      }
      output.write(stream.feed(ids));
    }
    take();
    output.write(stream.feed(ids));
    output.write(stream.finish());
    output.commit();
    return 0;
  };
}

} // namespace burin::runtime
