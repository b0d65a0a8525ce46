// Texts become shards of token ids that training maps: what `burin-text prepare` does.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace burin::runtime {

struct PrepareOptions {
  std::vector<std::string> files; // texts, or token ids of the same tokenizer in any format that is recognised
  std::string out;
  double validFraction = 0.01; // of the bytes, cut at the end of a document; 0: no shards for validation
  int64_t shardTokens = 100'000'000;
  bool texts = false; // every file is a text, whatever it looks like
};

struct PrepareResult {
  uint64_t bytes = 0, trainTokens = 0, validTokens = 0, shards = 0;
  bool texts = true;  // no file held ids, so that the bytes are those of the text
  uint32_t width = 0; // bytes of an id
};

struct PrepareEvents {
  std::function<void(const std::string &path, const std::string &taken)> file; // what a file was taken for
  std::function<void(uint64_t bytes, uint64_t allBytes, uint64_t tokens)> progress;
};

// Memory stays bounded, whatever the size of the files. Until all is written the folder stays as it was.
PrepareResult prepare(const Tokenizer &tokenizer, const PrepareOptions &options, const PrepareEvents &events);

} // namespace burin::runtime
