// Where training ends and validation begins is decided on the bytes, before anything is encoded: so each side is one
// stream, and nothing has to be held back until the number of tokens is known.
#include "data/prepare.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "data/prepared.h"
#include "error.h"

namespace burin::runtime {
namespace {

// A file to be read: a text, or ids.
struct Source {
  std::unique_ptr<TokenFile> ids;
  std::unique_ptr<MappedFile> text;

  uint64_t bytes() const { return ids ? ids->bytes().size() : text->size(); }
  // What positions count: bytes, or ids.
  uint64_t size() const { return ids ? ids->size() : text->size(); }
};

Source openSource(const std::string &path, bool isText) {
  MappedFile file(path);
  Source source;
  if (isText || recognise(file.bytes()) == DataFormat::text)
    source.text = std::make_unique<MappedFile>(std::move(file));
  else
    source.ids = std::make_unique<TokenFile>(std::move(file));
  return source;
}

// The ids of one side, in shards of a set size.
class Shards {
public:
  Shards(const PrepareOptions &options, const Tokenizer &tokenizer, std::string name)
      : options_(options), vocab_(tokenizer.vocab()), hash_(tokenizer.hash()), name_(std::move(name)) {}

  void add(std::span<const int32_t> ids) {
    while (!ids.empty()) {
      if (!writer_)
        writer_ = std::make_unique<TokenFileWriter>(options_.out + '/' + fileName(), vocab_, hash_);
      size_t room = static_cast<size_t>(options_.shardTokens) - writer_->count();
      std::span<const int32_t> here = ids.first(std::min(room, ids.size()));
      writer_->add(here);
      last_ = here.back();
      count_ += here.size();
      ids = ids.subspan(here.size());
      if (writer_->count() == static_cast<uint64_t>(options_.shardTokens))
        finish();
    }
  }

  // After each document; a text that ends with the mark itself gets no second one.
  void endDocument(std::optional<int32_t> mark) {
    if (mark && last_ && *last_ != *mark)
      add({&*mark, 1});
  }

  void finish() {
    if (!writer_)
      return;
    uint64_t count = writer_->count();
    std::string name = fileName();
    shards_.push_back({name, count, writer_->commit()});
    writer_.reset();
  }

  uint64_t count() const { return count_; }
  const std::vector<Shard> &shards() const { return shards_; }

private:
  std::string fileName() const { return fmt::format("{}-{:05}.tokens", name_, shards_.size()); }

  const PrepareOptions &options_;
  int64_t vocab_;
  uint64_t hash_, count_ = 0;
  std::string name_;
  std::unique_ptr<TokenFileWriter> writer_;
  std::optional<int32_t> last_;
  std::vector<Shard> shards_;
};

class Preparation {
public:
  Preparation(const Tokenizer &tokenizer, const PrepareOptions &options, const PrepareEvents &events)
      : tokenizer_(tokenizer), options_(options), events_(events), endOfText_(tokenizer.endOfText()),
        train_(options, tokenizer, "train"), valid_(options, tokenizer, "valid") {}

  PrepareResult go();

private:
  // A place in the sources: validation begins there.
  struct Cut {
    size_t file;
    uint64_t offset;
  };
  Cut findCut() const;
  uint64_t documentEnd(const Source &source, uint64_t from) const;
  void encode(const Source &source, uint64_t begin, uint64_t end, Shards &shards);
  void encodeText(const MappedFile &text, uint64_t begin, uint64_t end, Shards &shards);
  void copyIds(const TokenFile &ids, uint64_t begin, uint64_t end, Shards &shards);
  void report(uint64_t bytes);
  void removeLeftShards() const;

  const Tokenizer &tokenizer_;
  const PrepareOptions &options_;
  const PrepareEvents &events_;
  const std::optional<int32_t> endOfText_;
  std::vector<Source> sources_;
  uint64_t allBytes_ = 0, doneBytes_ = 0;
  Shards train_, valid_;
};

// The end of the first document that ends at or after `from`, where a mark within the source ends it; else the size.
uint64_t Preparation::documentEnd(const Source &source, uint64_t from) const {
  if (!endOfText_)
    return source.size();
  if (source.text) {
    const std::string mark = tokenizer_.bytesOf(*endOfText_);
    size_t found = source.text->bytes().find(mark, from);
    return found == std::string_view::npos ? source.size() : found + mark.size();
  }
  std::vector<int32_t> block;
  for (uint64_t at = from; at < source.size(); at += block.size()) {
    block.resize(std::min<uint64_t>(size_t{1} << 16, source.size() - at));
    source.ids->read(at, block, tokenizer_.vocab());
    source.ids->release(at, block.size());
    if (auto found = std::find(block.begin(), block.end(), *endOfText_); found != block.end())
      return at + static_cast<uint64_t>(found - block.begin()) + 1;
  }
  return source.size();
}

// The share for validation is the end of all files together. It begins with a document; where none ends behind the
// place that the share asks for, at that place, or at the next one where the text may be cut.
Preparation::Cut Preparation::findCut() const {
  if (options_.validFraction == 0)
    return {sources_.size(), 0};
  auto before = static_cast<uint64_t>(static_cast<double>(allBytes_) * (1 - options_.validFraction));
  size_t file = 0;
  while (file + 1 < sources_.size() && before >= sources_[file].bytes())
    before -= sources_[file++].bytes();
  const Source &source = sources_[file];
  double share = static_cast<double>(before) / static_cast<double>(std::max<uint64_t>(1, source.bytes()));
  uint64_t from = std::min(source.size(), static_cast<uint64_t>(share * static_cast<double>(source.size())));
  uint64_t end = documentEnd(source, from);
  if (end < source.size())
    return {file, end};
  if (file + 1 < sources_.size())
    return {file + 1, 0};
  if (source.text)
    from = tokenizer_.border(source.text->bytes(), from).value_or(source.size());
  return {file, from};
}

void Preparation::report(uint64_t bytes) {
  doneBytes_ += bytes;
  if (events_.progress)
    events_.progress(doneBytes_, allBytes_, train_.count() + valid_.count());
}

void Preparation::encodeText(const MappedFile &text, uint64_t begin, uint64_t end, Shards &shards) {
  constexpr uint64_t blockBytes = uint64_t{1} << 20;
  std::unique_ptr<EncodeStream> stream = tokenizer_.stream("data file " + text.path());
  std::vector<int32_t> ids;
  for (uint64_t at = begin; at < end; at += blockBytes) {
    std::string_view block = text.bytes().substr(at, std::min(blockBytes, end - at));
    ids.clear();
    stream->feed(block, ids);
    text.expectWhole();
    text.release(at, at + block.size());
    shards.add(ids);
    report(block.size());
  }
  ids.clear();
  stream->finish(ids);
  shards.add(ids);
}

void Preparation::copyIds(const TokenFile &source, uint64_t begin, uint64_t end, Shards &shards) {
  std::vector<int32_t> ids;
  for (uint64_t at = begin; at < end; at += ids.size()) {
    ids.resize(std::min<uint64_t>(uint64_t{1} << 18, end - at));
    source.read(at, ids, tokenizer_.vocab());
    source.release(at, ids.size());
    shards.add(ids);
    report(static_cast<uint64_t>(static_cast<double>(source.bytes().size()) * static_cast<double>(ids.size()) /
                                 static_cast<double>(source.size())));
  }
}

void Preparation::encode(const Source &source, uint64_t begin, uint64_t end, Shards &shards) {
  if (begin == end)
    return;
  if (source.text)
    encodeText(*source.text, begin, end, shards);
  else
    copyIds(*source.ids, begin, end, shards);
  shards.endDocument(endOfText_);
}

// Of an earlier preparation with more shards, and of one that was killed.
void Preparation::removeLeftShards() const {
  for (const auto &entry : std::filesystem::directory_iterator(options_.out)) {
    std::string name = entry.path().filename().string();
    auto listed = [&](const std::vector<Shard> &shards) {
      return std::any_of(shards.begin(), shards.end(), [&](const Shard &shard) { return shard.file == name; });
    };
    // train-00012.tokens
    bool ours = (name.starts_with("train-") || name.starts_with("valid-")) &&
                (name.ends_with(".tokens") || name.ends_with(".tokens.tmp"));
    const std::string number = name.substr(0, name.find('.')).substr(std::min<size_t>(name.size(), 6));
    ours = ours && number.size() >= 5 && number.find_first_not_of("0123456789") == std::string::npos;
    if (std::error_code ignored; ours && !listed(train_.shards()) && !listed(valid_.shards()))
      std::filesystem::remove(entry.path(), ignored);
  }
}

PrepareResult Preparation::go() {
  for (const std::string &path : options_.files) {
    Source &source = sources_.emplace_back(openSource(path, options_.texts));
    allBytes_ += source.bytes();
    const std::filesystem::path in = std::filesystem::path(path).parent_path();
    if (std::error_code ignored;
        source.ids && std::filesystem::equivalent(in.empty() ? "." : in, options_.out, ignored))
      fail("data file {} lies in {}, whose token files are replaced: prepare to another folder", path, options_.out);
    if (source.ids && source.ids->vocab() > tokenizer_.vocab())
      fail("data file {} was made with a vocabulary of {}, but the tokenizer's has {}", path, source.ids->vocab(),
           tokenizer_.vocab());
    if (source.ids && source.ids->tokenizer() != 0 && source.ids->tokenizer() != tokenizer_.hash())
      fail("data file {} was made with another tokenizer: its hash is {:016x}, that one's {:016x}", path,
           source.ids->tokenizer(), tokenizer_.hash());
    if (source.ids)
      source.ids->expectChecksum();
    if (events_.file)
      events_.file(path, source.ids ? source.ids->formatText() : "a text");
  }
  Cut cut = findCut();

  OutputFolder folder(options_.out);
  removePrepared(options_.out); // from here on the folder does not open, until all is done
  for (size_t i = 0; i < sources_.size(); ++i) {
    uint64_t end = i < cut.file ? sources_[i].size() : i == cut.file ? cut.offset : 0;
    encode(sources_[i], 0, end, train_);
    encode(sources_[i], end, sources_[i].size(), valid_);
  }
  train_.finish();
  valid_.finish();
  if (train_.count() == 0)
    fail("the files hold 0 tokens to train on ({} bytes, {} tokens to validate)", allBytes_, valid_.count());
  if (valid_.count() < 2 && options_.validFraction != 0)
    fail("the files hold {} tokens to validate on, and it takes 2: they are too short for --valid {} ({} tokens to "
         "train on); --valid 0 keeps none",
         valid_.count(), options_.validFraction, train_.count());
  removeLeftShards();
  writePrepared(options_.out,
                {tokenizer_.vocab(), tokenizer_.hash(), tokenizer_.saved(), train_.shards(), valid_.shards()});
  return {allBytes_, train_.count(), valid_.count(), train_.shards().size() + valid_.shards().size(),
          idWidth(tokenizer_.vocab())};
}

} // namespace

PrepareResult prepare(const Tokenizer &tokenizer, const PrepareOptions &options, const PrepareEvents &events) {
  return Preparation(tokenizer, options, events).go();
}

} // namespace burin::runtime
