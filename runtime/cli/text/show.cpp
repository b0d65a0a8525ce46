// `burin-text show`.
#include <cstdio>
#include <map>

#include "cli/text/commands.h"
#include "error.h"
#include "text/utf8.h"

namespace burin::runtime {
namespace {

// A token as one line shows it: line breaks and other control characters, the border itself and bytes that are no
// character are written out.
std::string visible(std::string_view bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size();) {
    const auto byte = static_cast<unsigned char>(bytes[at]);
    const Character character = characterAt(bytes, at);
    if (byte == '\n')
      text += "\\n";
    else if (byte == '\t')
      text += "\\t";
    else if (byte == '|' || byte == '\\')
      (text += '\\') += bytes[at];
    else if (character.bytes == 0 || character.code < 0x20 || (character.code >= 0x7F && character.code < 0xA0))
      text += fmt::format("\\x{:02x}", byte);
    else
      text += bytes.substr(at, character.bytes);
    // A control character beyond ASCII is two bytes, each written out.
    at += character.bytes && !(character.code >= 0x80 && character.code < 0xA0) ? character.bytes : 1;
  }
  return text;
}

} // namespace

Action addTextShow(CLI::App &app) {
  struct Options {
    TokenizerFlags tokenizer;
    Specials specials = Specials::allow;
    std::optional<std::string> text;
    std::string file = "-";
  };
  CLI::App *command = app.add_subcommand("show", "print a text with the borders of its tokens, their ids, and a table");
  auto options = std::make_shared<Options>();
  options->tokenizer.add(*command);
  addSpecials(*command, options->specials);
  CLI::Option *text = command->add_option("--text", options->text, "the text itself");
  addText(*command, "FILE", options->file, "a file with the text, - is standard input")
      ->capture_default_str()
      ->excludes(text);
  return [=] {
    std::unique_ptr<Tokenizer> tokenizer = options->tokenizer.open();
    const std::string text = options->text ? *options->text : Input(options->file).all();
    const std::vector<int32_t> ids = tokenizer->encode(text,
                                                       options->text          ? "--text"
                                                       : options->file == "-" ? "standard input"
                                                                              : options->file,
                                                       options->specials);
    std::string tokens, numbers;
    std::map<int32_t, size_t> specials;
    for (int32_t id : ids) {
      const std::string bytes = tokenizer->bytesOf(id);
      tokens += (tokens.empty() ? "" : "|") + visible(bytes);
      if (bytes == "\n")
        tokens += '\n'; // lines of the text stay lines
      numbers += fmt::format("{}{}", numbers.empty() ? "" : " ", id);
      if (tokenizer->isSpecial(id))
        ++specials[id];
    }
    fmt::print("{}\n{}\n\n", tokens, numbers);
    fmt::print("{:<17}{}\n{:<17}{}\n{:<17}{:.2f}\n", "bytes", text.size(), "tokens", ids.size(), "bytes per token",
               ids.empty() ? 0.0 : static_cast<double>(text.size()) / static_cast<double>(ids.size()));
    fmt::print("{:<17}{} tokens, fingerprint {:016x}\n", "tokenizer", tokenizer->vocab(), tokenizer->hash());
    for (auto [id, count] : specials)
      fmt::print("special token    {} ({}): {}, {:.2f} % of the tokens\n", visible(tokenizer->bytesOf(id)), id, count,
                 100.0 * static_cast<double>(count) / static_cast<double>(ids.size()));
    return 0;
  };
}

} // namespace burin::runtime
