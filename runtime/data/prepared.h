// A folder that `burin-text prepare` made: shards of token ids, and prepared.json, which lists them and holds the
// tokenizer. It is written last, so a folder without it is an unfinished one and does not open.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/token_file.h"

namespace burin::runtime {

struct Shard {
  std::string file; // its name in the folder
  uint64_t count = 0, checksum = 0;
};

struct Prepared {
  int64_t vocab = 0;
  uint64_t tokenizerHash = 0;
  nlohmann::json tokenizer; // Tokenizer::saved()
  std::vector<Shard> train, valid;
};

Prepared readPrepared(const std::string &folder);
void writePrepared(const std::string &folder, const Prepared &prepared);
// Takes the list away: from here on the folder does not open.
void removePrepared(const std::string &folder);

// The shards of a list, each held against it.
std::vector<TokenFile> openShards(const std::string &folder, const Prepared &prepared,
                                  const std::vector<Shard> &shards);

} // namespace burin::runtime
