// The commands of `burin-text`. Each function adds its flags and says what to run.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "store/file.h"
#include "text/tokenizer.h"

namespace burin::runtime {

Action addTextTrain(CLI::App &app);
Action addTextPrepare(CLI::App &app);
Action addTextEncode(CLI::App &app);
Action addTextDecode(CLI::App &app);
Action addTextShow(CLI::App &app);
Action addTextConvert(CLI::App &app);

// The flags that name a tokenizer.
struct TokenizerFlags {
  std::string path;
  OpenOptions options;

  void add(CLI::App &command);
  std::unique_ptr<Tokenizer> open() const { return openTokenizer(path, options); }
};

void addSpecials(CLI::App &command, Specials &specials);

// A file, or standard input by the name "-", in blocks.
class Input {
public:
  explicit Input(const std::string &path);
  // The next block; false at the end.
  bool next(std::string &block);
  std::string all();
  const std::string &name() const { return name_; }

private:
  std::string name_;
  File file_;
  int descriptor_ = 0;
};

// Where a command writes: a file that appears when it is complete, or standard output by the name "-".
class Output {
public:
  explicit Output(const std::string &path);
  void write(std::string_view text);
  void commit();

private:
  std::optional<AtomicFile> file_;
};

} // namespace burin::runtime
