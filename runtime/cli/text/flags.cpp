// What the commands share: flags, input, output.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <map>

#include "cli/text/commands.h"
#include "error.h"

namespace burin::runtime {

void TokenizerFlags::add(CLI::App &command) {
  addText(command, "--tokenizer", path,
          "a folder with tokenizer.json, or with vocab.json and merges.txt; a tokenizer.json; a .tiktoken file; or the "
          "word bytes")
      ->required();
  command.add_option("--special", options.specials,
                     "a special token besides those of the file; one that the vocabulary lacks gets the next id");
  command.add_option(
      "--pattern", options.pattern,
      "how text is cut into pre-tokens, for a .tiktoken file: gpt2, cl100k, o200k or a regular expression");
}

void addSpecials(CLI::App &command, Specials &specials) {
  const std::map<std::string, Specials> names = {
      {"allow", Specials::allow}, {"plain", Specials::plain}, {"forbid", Specials::forbid}};
  command
      .add_option_function<std::string>(
          "--specials", [&specials, names](const std::string &name) { specials = names.at(name); },
          "text that reads like a special token: allow (it is the token), plain (it is text), forbid (it is an error) "
          "[allow]")
      ->check(CLI::IsMember({"allow", "plain", "forbid"}));
}

Input::Input(const std::string &path) : name_(path == "-" ? "standard input" : path) {
  if (path == "-")
    return;
  file_ = openForReading(path, "text");
  descriptor_ = file_.get();
  fcntl(descriptor_, F_SETFL, 0); // a pipe is waited for
}

bool Input::next(std::string &block) {
  block.resize(64 << 10);
  ssize_t got;
  do
    got = read(descriptor_, block.data(), block.size());
  while (got < 0 && errno == EINTR);
  if (got < 0)
    fail("cannot read {}: {}", name_, systemError());
  block.resize(static_cast<size_t>(got));
  return got > 0;
}

std::string Input::all() {
  std::string text, block;
  while (next(block))
    text += block;
  return text;
}

Output::Output(const std::string &path) {
  if (path != "-")
    file_.emplace(path);
}

void Output::write(std::string_view text) {
  if (file_)
    file_->write(text.data(), text.size());
  else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    fail("cannot write to standard output"); // now, not after the whole text
}

void Output::commit() {
  if (file_)
    file_->commit();
}

} // namespace burin::runtime
