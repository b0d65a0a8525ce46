// What `--data` names, opened and checked: a text, a file of token ids, or a folder that `burin-text prepare` made.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "data/tokens.h"
#include "text/tokenizer.h"

namespace burin::runtime {

struct CorpusOptions {
  std::string path;
  std::optional<std::string> tokens;    // "bytes" or "characters": the file is a text, whatever it looks like
  std::optional<std::string> tokenizer; // of a text; of ids, to tell what they mean
  std::optional<double> validFraction;  // nothing: that of the run or 0.1; not for a folder with parts of its own
  bool whole = false;                   // the parts are not wanted
  int64_t vocab = 0, length = 0;        // of the model: its ids, the tokens of a window
  bool check = false;                   // look at all ids, not only at the first
};

struct Corpus {
  std::unique_ptr<Tokens> tokens;
  std::unique_ptr<Tokenizer> tokenizer; // none: ids of which nobody said what they mean
  Parts parts;
  std::string taken;          // what the file was taken for: "a text, by bytes"
  nlohmann::json fingerprint; // tells a resumed run whether it got the same data
};

// `run`: what a checkpoint tells of its run, whose tokenizer is then the one to be used; null for a new run.
Corpus openCorpus(const CorpusOptions &options, const nlohmann::json &run);

// The tokenizer of a checkpoint, by what it says of its run; none where it was trained on ids without one.
std::unique_ptr<Tokenizer> savedTokenizer(const nlohmann::json &run);

} // namespace burin::runtime
