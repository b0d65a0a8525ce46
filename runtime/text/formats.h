// The files that tokenizers are kept in: GPT-2's vocab.json and merges.txt, Hugging Face's tokenizer.json, tiktoken's
// ranks. What such a file asks for and BpeTokenizer cannot do is an error that names it.
#pragma once
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "text/bpe.h"

namespace burin::runtime {

// Bytes as the characters that vocab.json and tokenizer.json write for them: printable ones as themselves, the others
// from U+0100 on.
std::string printable(std::string_view bytes);

// Special tokens: `specials`, those of an added_tokens.json beside the vocabulary, and <|endoftext|> where the
// vocabulary has it.
BpeModel readGpt2(const std::string &vocabPath, const std::string &mergesPath,
                  const std::vector<std::string> &specials = {});
BpeModel readTokenizerJson(const std::string &path, const std::vector<std::string> &specials = {});
// The pattern and the special tokens of such a file are not in it, but known where its name is one of tiktoken's own.
BpeModel readTiktoken(const std::string &path, const OpenOptions &options);

// tokenizer.json as an object; `source` begins the errors.
nlohmann::json tokenizerJson(const BpeModel &model);
BpeModel modelOf(const nlohmann::json &tokenizer, const std::string &source);

// Writes tokenizer.json, and vocab.json and merges.txt where these can say it: they have no place for a pattern other
// than GPT-2's. Returns the names of the files.
std::vector<std::string> writeTokenizer(const BpeModel &model, const std::string &folder);

} // namespace burin::runtime
