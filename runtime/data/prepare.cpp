// Where training ends and validation begins is decided on the bytes, before anything is encoded: so each side is one
// stream, and nothing has to be held back until the number of tokens is known.
#include "data/prepare.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "data/prepared.h"
#include "error.h"

namespace burin::runtime {
namespace {

// Where the shards are until all are written, so that a preparation that fails changes nothing.
class UnfinishedFolder {
public:
  explicit UnfinishedFolder(const std::string &out) : path_(out + name) {
    remove(); // one that was killed left it
    std::error_code error;
    std::filesystem::create_directory(path_, error);
    if (error)
      fail("cannot make the folder {}: {}", path_, error.message());
  }
  ~UnfinishedFolder() { remove(); }
  static constexpr const char *name = "/.burin-unfinished";

private:
  void remove() const {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path_;
};

// A file to be read: a text, or ids.
struct Source {
  std::unique_ptr<TokenFile> ids;
  std::unique_ptr<MappedFile> text;

  uint64_t bytes() const { return ids ? ids->bytes().size() : text->size(); }
  // What positions count: bytes, or ids.
  uint64_t size() const { return ids ? ids->size() : text->size(); }
};

Source openSource(const std::string &path, bool isText, int64_t vocab) {
  MappedFile file(path);
  Source source;
  if (isText || recognise(file.bytes(), vocab) == DataFormat::text)
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
        writer_ =
            std::make_unique<TokenFileWriter>(options_.out + UnfinishedFolder::name + '/' + fileName(), vocab_, hash_);
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
  uint64_t documentBegin(const Source &source, uint64_t from) const;
  double bytesFrom(Cut cut) const;
  void encode(const Source &source, uint64_t begin, uint64_t end, Shards &shards);
  void encodeText(const MappedFile &text, uint64_t begin, uint64_t end, Shards &shards);
  void copyIds(const TokenFile &ids, uint64_t begin, uint64_t end, Shards &shards);
  void report(uint64_t bytes);
  void replaceShards() const;

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

// The beginning of the document that `from` lies in.
uint64_t Preparation::documentBegin(const Source &source, uint64_t from) const {
  if (!endOfText_)
    return 0;
  if (source.text) {
    const std::string mark = tokenizer_.bytesOf(*endOfText_);
    size_t found = source.text->bytes().substr(0, from).rfind(mark);
    return found == std::string_view::npos ? 0 : found + mark.size();
  }
  std::vector<int32_t> block;
  for (uint64_t end = from; end > 0; end -= block.size()) {
    block.resize(std::min<uint64_t>(size_t{1} << 16, end));
    source.ids->read(end - block.size(), block, tokenizer_.vocab());
    source.ids->release(end - block.size(), block.size());
    if (auto found = std::find(block.rbegin(), block.rend(), *endOfText_); found != block.rend())
      return end - static_cast<uint64_t>(found - block.rbegin());
  }
  return 0;
}

// The bytes of all files behind a place.
double Preparation::bytesFrom(Cut cut) const {
  double bytes = 0;
  for (size_t i = cut.file; i < sources_.size(); ++i) {
    const auto size = static_cast<double>(sources_[i].size());
    const double share = i > cut.file || size == 0 ? 1 : 1 - static_cast<double>(cut.offset) / size;
    bytes += share * static_cast<double>(sources_[i].bytes());
  }
  return bytes;
}

// The share for validation is the end of all files together. It begins with a document: the next one behind the place
// that the share asks for, or else the one at that place, if this changes neither part by more than half of the
// smaller. A document that is too long for that is cut: where the text may be cut, or else at the end of a line.
Preparation::Cut Preparation::findCut() const {
  if (options_.validFraction == 0)
    return {sources_.size(), 0};
  const double all = static_cast<double>(allBytes_), asked = all * options_.validFraction;
  const double tolerance = std::min(asked, all - asked) / 2;
  auto before = static_cast<uint64_t>(all - asked);
  size_t file = 0;
  while (file + 1 < sources_.size() && before >= sources_[file].bytes())
    before -= sources_[file++].bytes();
  const Source &source = sources_[file];
  double share = static_cast<double>(before) / static_cast<double>(std::max<uint64_t>(1, source.bytes()));
  uint64_t from = std::min(source.size(), static_cast<uint64_t>(share * static_cast<double>(source.size())));
  Cut next = {file, documentEnd(source, from)};
  if (next.offset == source.size())
    next = {file + 1, 0};
  if (bytesFrom(next) >= asked - tolerance)
    return next;
  const Cut here = {file, documentBegin(source, from)};
  if (bytesFrom(here) <= asked + tolerance)
    return here;
  if (!source.text)
    return {file, from};
  const std::string_view text = source.text->bytes();
  if (std::optional<size_t> border = tokenizer_.border(text, from))
    return {file, *border};
  const size_t line = text.find('\n', from);
  return line == text.npos ? next : Cut{file, line + 1};
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
    if (at + block.size() == end)
      stream->finish(ids);
    shards.add(ids);
    report(block.size());
  }
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

// Puts the shards in the place of those of an earlier preparation.
void Preparation::replaceShards() const {
  namespace fs = std::filesystem;
  std::vector<fs::path> former;
  for (const auto &entry : fs::directory_iterator(options_.out)) {
    std::string name = entry.path().filename().string(); // train-00012.tokens
    if (!(name.starts_with("train-") || name.starts_with("valid-")) || !name.ends_with(".tokens"))
      continue;
    const std::string number = name.substr(6, name.size() - 6 - 7);
    if (number.size() < 5 || number.find_first_not_of("0123456789") != number.npos)
      continue;
    if (entry.is_directory()) // asked before anything is changed
      fail("{} is a folder, where a token file was to be written: move it away", entry.path().string());
    former.push_back(entry.path());
  }
  removePrepared(options_.out); // from here on the folder does not open, until the new list is written
  for (const fs::path &path : former) {
    std::error_code error;
    if (!fs::remove(path, error) && error)
      fail("cannot replace {}: {}", path.string(), error.message());
  }
  for (const Shards *shards : {&train_, &valid_})
    for (const Shard &shard : shards->shards()) {
      const std::string name = '/' + shard.file;
      std::error_code error;
      fs::rename(options_.out + UnfinishedFolder::name + name, options_.out + name, error);
      if (error)
        fail("cannot write {}{}: {}", options_.out, name, error.message());
    }
  writePrepared(options_.out,
                {tokenizer_.vocab(), tokenizer_.hash(), tokenizer_.saved(), train_.shards(), valid_.shards()});
}

PrepareResult Preparation::go() {
  for (const std::string &path : options_.files) {
    Source &source = sources_.emplace_back(openSource(path, options_.texts, tokenizer_.vocab()));
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
  const UnfinishedFolder shards(options_.out);
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
  replaceShards();
  return {.bytes = allBytes_,
          .trainTokens = train_.count(),
          .validTokens = valid_.count(),
          .shards = train_.shards().size() + valid_.shards().size(),
          .texts = std::none_of(sources_.begin(), sources_.end(), [](const Source &source) { return !!source.ids; }),
          .width = idWidth(tokenizer_.vocab())};
}

} // namespace

PrepareResult prepare(const Tokenizer &tokenizer, const PrepareOptions &options, const PrepareEvents &events) {
  return Preparation(tokenizer, options, events).go();
}

} // namespace burin::runtime
