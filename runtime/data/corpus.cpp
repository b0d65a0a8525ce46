// Everything that can be known to be wrong with the data is found here, before anything is trained.
#include "data/corpus.h"

#include <algorithm>
#include <filesystem>

#include "data/prepared.h"
#include "data/text_file.h"
#include "error.h"
#include "hash.h"

namespace burin::runtime {
namespace {

using nlohmann::json;

// The tokenizer that the checkpoint or the user names; none where neither does.
std::unique_ptr<Tokenizer> namedTokenizer(const CorpusOptions &options, const json &run) {
  if (!run.is_null())
    return savedTokenizer(run);
  return options.tokenizer ? openTokenizer(*options.tokenizer) : nullptr;
}

// The share for validation that the run was begun with, if one was given.
std::optional<double> savedFraction(const json &run) {
  const json saved = run.is_null() ? json() : run.value("/options/valid_fraction"_json_pointer, json());
  return saved.is_null() ? std::nullopt : std::optional(saved.get<double>());
}

void openText(Corpus &corpus, MappedFile file, const CorpusOptions &options, const json &run) {
  auto text = std::make_unique<TextFile>(std::move(file));
  corpus.fingerprint = {{"bytes", text->bytes().size()}, {"fingerprint", text->fingerprint()}};
  corpus.tokenizer = namedTokenizer(options, run);
  if (corpus.tokenizer)
    useTokenizer(*text, *corpus.tokenizer, options.vocab);
  else if (run.is_null())
    corpus.tokenizer = chooseTokenizer(*text, options.tokens.value_or(""), options.vocab);
  else
    fail("data file {} is a text, but the model was trained on token ids, without a tokenizer", options.path);
  corpus.taken = dynamic_cast<const ByteTokenizer *>(corpus.tokenizer.get()) ? "a text, by bytes"
                 : dynamic_cast<const CharacterTokenizer *>(corpus.tokenizer.get())
                     ? "a text, by characters"
                     : "a text, encoded with the tokenizer";
  corpus.tokens = std::move(text);
}

json fingerprintOf(const std::vector<TokenFile> &files) {
  uint64_t bytes = 0, hash = fnv1a("");
  for (const TokenFile &file : files) {
    bytes += file.bytes().size();
    hash = fnv1a(std::to_string(edgesOf(file.bytes())), hash);
  }
  return {{"bytes", bytes}, {"fingerprint", hash}};
}

void expectTokenizer(const Corpus &corpus, const std::string &path, uint64_t hash, bool saved) {
  if (!corpus.tokenizer || hash == 0 || corpus.tokenizer->hash() == hash)
    return;
  fail("data file {} was made with another tokenizer than {}: its hash is {:016x}, {} {:016x}", path,
       saved ? "the model was trained with" : "--tokenizer names", hash, saved ? "the checkpoint's" : "that one's",
       corpus.tokenizer->hash());
}

void openIds(Corpus &corpus, std::vector<TokenFile> files, const CorpusOptions &options, const json &run) {
  corpus.fingerprint = fingerprintOf(files);
  corpus.taken = files.front().formatText();
  if (files.size() > 1)
    corpus.taken += fmt::format(" in {} files", files.size());
  if (!corpus.tokenizer)
    corpus.tokenizer = namedTokenizer(options, run);
  if (corpus.tokenizer && corpus.tokenizer->vocab() > options.vocab)
    fail("the tokenizer has {} ids, but the model's vocabulary has room for {}", corpus.tokenizer->vocab(),
         options.vocab);
  for (const TokenFile &file : files)
    expectTokenizer(corpus, file.path(), file.tokenizer(), !run.is_null());
  auto tokens = std::make_unique<TokenFiles>(options.path, std::move(files), options.vocab);
  std::vector<int32_t> first;
  for (const TokenFile &file : tokens->files()) {
    file.expectChecksum();
    first.resize(std::min(file.size(), static_cast<uint64_t>(options.length) + 1));
    file.read(0, first, options.vocab);
  }
  if (options.check)
    tokens->checkAll();
  corpus.tokens = std::move(tokens);
}

// Training and validation are cut already, unless `prepare` was told not to.
void openFolder(Corpus &corpus, const CorpusOptions &options, const json &run) {
  if (options.tokens)
    throw UsageError(fmt::format("--tokens says what a token of a text is, but {} holds token ids", options.path));
  Prepared prepared = readPrepared(options.path);
  std::vector<TokenFile> files = openShards(options.path, prepared, prepared.train);
  uint64_t train = 0;
  for (const TokenFile &file : files)
    train += file.size();
  for (TokenFile &file : openShards(options.path, prepared, prepared.valid))
    files.push_back(std::move(file));
  corpus.tokenizer = namedTokenizer(options, run);
  if (!corpus.tokenizer && run.is_null()) {
    try {
      corpus.tokenizer = restoredTokenizer(prepared.tokenizer);
    } catch (const json::exception &error) {
      fail("data folder {}: the tokenizer in its prepared.json is damaged ({})", options.path, error.what());
    }
  }
  openIds(corpus, std::move(files), options, run);
  if (!prepared.valid.empty() && !options.whole) {
    if (options.validFraction && options.validFraction != savedFraction(run)) // earlier versions saved the default, too
      throw UsageError(fmt::format("--valid-fraction is {}, but {} was cut by `burin-text prepare`, into {} tokens to "
                                   "train on and {} to validate: leave it out, or prepare with another --valid",
                                   *options.validFraction, options.path, train, corpus.tokens->size() - train));
    corpus.parts = {{0, train}, {train, corpus.tokens->size()}};
    expectLongEnough(*corpus.tokens, corpus.parts, options.length);
  }
}

} // namespace

std::unique_ptr<Tokenizer> savedTokenizer(const json &run) {
  if (!run.contains("vocabulary")) // written before there was a choice
    return std::make_unique<ByteTokenizer>();
  const json &saved = run.at("vocabulary");
  return saved.is_null() ? nullptr : restoredTokenizer(saved);
}

Corpus openCorpus(const CorpusOptions &options, const json &run) {
  Corpus corpus;
  if (std::error_code ignored; std::filesystem::is_directory(options.path, ignored)) {
    openFolder(corpus, options, run);
  } else {
    MappedFile file(options.path);
    if (options.tokens || recognise(file.bytes(), options.vocab) == DataFormat::text) {
      openText(corpus, std::move(file), options, run);
    } else {
      std::vector<TokenFile> files;
      files.emplace_back(std::move(file));
      openIds(corpus, std::move(files), options, run);
    }
  }
  if (options.whole)
    return corpus;
  if (corpus.parts.train.size() == 0) {
    const std::optional<double> fraction = options.validFraction ? options.validFraction : savedFraction(run);
    corpus.parts = split(*corpus.tokens, fraction.value_or(0.1), options.length);
  }
  corpus.fingerprint["train"] = corpus.parts.train.size();
  return corpus;
}

} // namespace burin::runtime
