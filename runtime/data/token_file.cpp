// A header is hostile until proven otherwise: every number is held against the size of the file before it is used.
#include "data/token_file.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "error.h"
#include "text/utf8.h"

namespace burin::runtime {
namespace {

constexpr std::string_view burinMagic = "BURINTOK", npyMagic = "\x93NUMPY";
constexpr uint32_t burinVersion = 1;
constexpr int32_t llmcMagic = 20240520, llmcVersion = 1;
constexpr uint64_t llmcHeader = 256 * sizeof(int32_t);
constexpr int64_t most16 = 65536;                 // ids that two bytes tell apart
constexpr uint64_t scanBytes = uint64_t{1} << 20; // read at once where a whole file is

template <typename T> T readAt(std::string_view bytes, uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <typename Stored>
void copyIds(std::string_view bytes, uint64_t first, std::span<int32_t> ids, int64_t vocab, const std::string &path) {
  const char *from = bytes.data() + first * sizeof(Stored);
  bool inside = true;
  for (size_t i = 0; i < ids.size(); ++i) {
    Stored id;
    std::memcpy(&id, from + i * sizeof id, sizeof id);
    inside &= static_cast<uint64_t>(id) < static_cast<uint64_t>(vocab); // an id below 0 becomes a large one
    ids[i] = static_cast<int32_t>(id);
  }
  if (inside)
    return;
  for (size_t i = 0;; ++i)
    if (auto id = readAt<Stored>(bytes, (first + i) * sizeof(Stored));
        static_cast<uint64_t>(id) >= static_cast<uint64_t>(vocab))
      fail("data file {}: token id {} at token {}, but the vocabulary ends at {}", path, id, first + i, vocab);
}

bool looksLikeRaw16(std::string_view content, int64_t vocab) {
  std::string_view head = content.substr(0, std::min<size_t>(65536, content.size() / 2 * 2));
  const auto zeros = static_cast<size_t>(std::count(head.begin(), head.end(), '\0'));
  if (zeros == 0)
    return false;
  size_t inside = 0;
  for (size_t at = 0; at < head.size(); at += 2)
    inside += vocab == 0 || readAt<uint16_t>(head, at) < vocab;
  if (inside < head.size() / 2 - inside)
    return false;
  head.remove_suffix(incompleteTail(head));
  return 4 * zeros >= head.size() || wellFormed(head) != head;
}

} // namespace

DataFormat recognise(std::string_view content, int64_t vocab) {
  if (content.starts_with(burinMagic))
    return DataFormat::burin;
  if (content.starts_with(npyMagic))
    return DataFormat::npy;
  if (content.size() >= sizeof llmcMagic && readAt<int32_t>(content, 0) == llmcMagic)
    return DataFormat::llmc;
  return looksLikeRaw16(content, vocab) ? DataFormat::raw16 : DataFormat::text;
}

uint32_t idWidth(int64_t vocab) { return vocab <= most16 ? 2 : 4; }

TokenFileWriter::TokenFileWriter(const std::string &path, int64_t vocab, uint64_t tokenizer)
    : path_(path), vocab_(vocab), tokenizer_(tokenizer), width_(idWidth(vocab)), file_(path) {
  const TokenHeader later{}; // its place; what it says is known at the end
  file_.write(&later, sizeof later);
}

void TokenFileWriter::add(std::span<const int32_t> ids) {
  for (int32_t id : ids) {
    if (id < 0 || id >= vocab_)
      fail("cannot write {}: token id {} lies outside the vocabulary of {}", path_, id, vocab_);
    const auto *bytes = reinterpret_cast<const char *>(&id);
    waiting_.insert(waiting_.end(), bytes, bytes + width_); // little-endian: the low bytes come first
  }
  count_ += ids.size();
  if (waiting_.size() >= size_t{1} << 20)
    flush();
}

void TokenFileWriter::flush() {
  sum_.add({waiting_.data(), waiting_.size()});
  file_.write(waiting_.data(), waiting_.size());
  waiting_.clear();
}

uint64_t TokenFileWriter::commit() {
  flush();
  TokenHeader header{.magic = {},
                     .version = burinVersion,
                     .width = width_,
                     .count = count_,
                     .vocab = vocab_,
                     .tokenizer = tokenizer_,
                     .checksum = sum_.value(),
                     .reserved = 0,
                     .own = 0};
  std::copy(burinMagic.begin(), burinMagic.end(), header.magic);
  header.own = checksumOf({reinterpret_cast<const char *>(&header), offsetof(TokenHeader, own)});
  file_.writeFirst(&header, sizeof header);
  file_.commit();
  return header.checksum;
}

TokenFile::TokenFile(MappedFile file) : file_(std::move(file)), format_(recognise(file_.bytes())) {
  try {
    switch (format_) {
    case DataFormat::burin:
      readBurin();
      break;
    case DataFormat::llmc:
      readLlmc();
      break;
    case DataFormat::npy:
      readNpy();
      break;
    case DataFormat::raw16:
      formatText_ = "raw token ids of 16 bits (nanoGPT)";
      if (file_.size() % 2 != 0)
        fail("{}, but {} bytes, an odd number: it is truncated, or a text that must be called one (--tokens; of "
             "prepare, --text)",
             formatText_, file_.size());
      count_ = file_.size() / 2;
      break;
    case DataFormat::text:
      if (file_.size() == 0)
        fail("empty: it holds 0 tokens");
      fail("a text, where a file of token ids is expected");
    }
    if (count_ == 0)
      fail("{} that hold 0 tokens", formatText_);
    file_.expectWhole();
  } catch (const Error &error) {
    fail("data file {}: {}", path(), error.what());
  }
}

// The file must be as long as its header says, no shorter and no longer.
void TokenFile::expectSize(uint64_t headerBytes, uint64_t count) {
  uint64_t have = file_.size() - headerBytes, need = 0;
  if (__builtin_mul_overflow(count, uint64_t{width_}, &need) || need > have)
    fail("truncated: its header tells of {} tokens of {} bytes, the file has {} bytes after the header", count, width_,
         have);
  if (need < have)
    fail("{} bytes follow after the {} tokens that its header tells of", have - need, count);
  start_ = headerBytes;
  count_ = count;
}

void TokenFile::readBurin() {
  if (file_.size() < sizeof(TokenHeader))
    fail("truncated: {} bytes, shorter than the header of {}", file_.size(), sizeof(TokenHeader));
  auto header = readAt<TokenHeader>(file_.bytes(), 0);
  if (header.version != burinVersion)
    fail("token file of version {}, this program reads version {}", header.version, burinVersion);
  if (uint64_t own = checksumOf(file_.bytes().substr(0, offsetof(TokenHeader, own))); own != header.own)
    fail("damaged: the checksum of its header is {:016x}, the header says {:016x}", own, header.own);
  if (header.width != 2 && header.width != 4)
    fail("its ids are {} bytes wide, expected 2 or 4", header.width);
  if (header.vocab < 1 || header.vocab > std::numeric_limits<int32_t>::max())
    fail("its vocabulary of {} is no number of ids", header.vocab);
  if (header.width < idWidth(header.vocab))
    fail("its vocabulary of {} does not fit ids of {} bytes", header.vocab, header.width);
  if (header.reserved != 0)
    fail("its reserved header field is {}, expected 0", header.reserved);
  width_ = header.width;
  vocab_ = header.vocab;
  tokenizer_ = header.tokenizer;
  checksum_ = header.checksum;
  formatText_ = fmt::format("token ids of {} bits (burin-text)", 8 * width_);
  expectSize(sizeof header, header.count);
}

void TokenFile::readLlmc() {
  formatText_ = "token ids of 16 bits (llm.c)";
  if (file_.size() < llmcHeader)
    fail("truncated: {} bytes, shorter than the header of {} of an llm.c shard", file_.size(), llmcHeader);
  if (auto version = readAt<int32_t>(file_.bytes(), 4); version != llmcVersion)
    fail("llm.c shard of version {}, this program reads version {}", version, llmcVersion);
  auto count = readAt<int32_t>(file_.bytes(), 8);
  if (count < 0)
    fail("its header tells of {} tokens", count);
  expectSize(llmcHeader, static_cast<uint64_t>(count));
}

// A header in Python's notation, {'descr': '<u2', 'fortran_order': False, 'shape': (1000,), }, behind its length.
void TokenFile::readNpy() {
  const std::string_view bytes = file_.bytes();
  if (bytes.size() < 12)
    fail("truncated: {} bytes, shorter than the header of an .npy file", bytes.size());
  const int version = bytes[6];
  if (version < 1 || version > 3)
    fail(".npy file of version {}, this program reads versions 1 to 3", version);
  uint64_t start = version == 1 ? 10 : 12;
  uint64_t length = version == 1 ? readAt<uint16_t>(bytes, 8) : readAt<uint32_t>(bytes, 8);
  if (length > bytes.size() - start)
    fail("truncated: its header would be {} bytes, the file has {}", length, bytes.size());
  const std::string_view header = bytes.substr(start, length);
  auto valueOf = [&](std::string_view key) {
    size_t at = header.find(key);
    size_t value = at == header.npos ? at : header.find_first_not_of(": ", at + key.size());
    if (value == header.npos)
      fail("its .npy header has no {}", key);
    return header.substr(value);
  };

  const std::string_view type = valueOf("'descr'").substr(0, 5);
  struct Type {
    std::string_view name;
    uint32_t width;
    bool isSigned;
  };
  static constexpr Type types[] = {{"'|u1'", 1, false}, {"'<u2'", 2, false}, {"'<u4'", 4, false}, {"'<u8'", 8, false},
                                   {"'<i2'", 2, true},  {"'<i4'", 4, true},  {"'<i8'", 8, true}};
  const Type *found = std::find_if(std::begin(types), std::end(types), [&](const Type &t) { return t.name == type; });
  if (found == std::end(types))
    fail("an .npy array of {}, expected whole numbers: '<u2', '<u4', '<i4' or the like", type);
  width_ = found->width;
  isSigned_ = found->isSigned;

  std::string_view shape = valueOf("'shape'");
  uint64_t count = 0;
  const char *end = shape.data() + shape.size();
  auto [stop, error] = std::from_chars(shape.data() + std::min<size_t>(shape.size(), 1), end, count);
  if (!shape.starts_with('(') || error != std::errc{} || !std::string_view(stop, end).starts_with(",)"))
    fail("an .npy array of shape {}, expected one dimension", shape.substr(0, shape.find(')') + 1));
  formatText_ = fmt::format("token ids of {} bits (NumPy .npy)", 8 * width_);
  expectSize(start + length, count);
}

void TokenFile::read(uint64_t first, std::span<int32_t> ids, int64_t vocab) const {
  auto copy = [&](auto stored) { copyIds<decltype(stored)>(this->ids(), first, ids, vocab, path()); };
  try {
    if (width_ == 1)
      copy(uint8_t{});
    else if (width_ == 2)
      isSigned_ ? copy(int16_t{}) : copy(uint16_t{});
    else if (width_ == 4)
      isSigned_ ? copy(int32_t{}) : copy(uint32_t{});
    else
      isSigned_ ? copy(int64_t{}) : copy(uint64_t{});
  } catch (const Error &) {
    file_.expectWhole(); // otherwise the id is to blame
    throw;
  }
  file_.expectWhole();
}

void TokenFile::expectChecksum() const {
  if (format_ != DataFormat::burin)
    return;
  Checksum sum;
  for (uint64_t at = start_; at < file_.size(); at += scanBytes) {
    sum.add(file_.bytes().substr(at, scanBytes));
    file_.release(at, at + std::min(scanBytes, file_.size() - at));
  }
  file_.expectWhole();
  if (sum.value() != checksum_)
    fail("data file {} is damaged: the checksum of its {} tokens is {:016x}, its header says {:016x}", path(), count_,
         sum.value(), checksum_);
}

void TokenFile::release(uint64_t first, uint64_t count) const {
  file_.release(start_ + first * width_, start_ + (first + count) * width_);
}

void TokenFile::checkAll(int64_t vocab) const {
  std::vector<int32_t> block;
  for (uint64_t first = 0; first < count_; first += block.size()) {
    block.resize(std::min<uint64_t>(scanBytes / sizeof(int32_t), count_ - first));
    read(first, block, vocab);
    release(first, block.size());
  }
}

TokenFiles::TokenFiles(std::string path, std::vector<TokenFile> files, int64_t vocab)
    : path_(std::move(path)), files_(std::move(files)), vocab_(vocab) {
  firsts_.push_back(0);
  for (const TokenFile &file : files_) {
    if (file.vocab() > vocab)
      fail("data file {} was made with a vocabulary of {}, but the model's has {}", file.path(), file.vocab(), vocab);
    firsts_.push_back(firsts_.back() + file.size());
  }
}

void TokenFiles::read(uint64_t first, std::span<int32_t> ids) const {
  auto after = std::upper_bound(firsts_.begin(), firsts_.end(), first);
  for (auto which = static_cast<size_t>(after - firsts_.begin()) - 1; !ids.empty(); ++which) {
    auto here = static_cast<size_t>(std::min<uint64_t>(ids.size(), firsts_[which + 1] - first));
    files_[which].read(first - firsts_[which], ids.first(here), vocab_);
    ids = ids.subspan(here);
    first += here;
  }
}

void TokenFiles::checkAll() const {
  for (const TokenFile &file : files_)
    file.checkAll(vocab_);
}

} // namespace burin::runtime
