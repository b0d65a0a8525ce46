// The mapping is read-only and private; ids are checked once, so that no step has to.
#include "data/text_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>

#include "error.h"
#include "hash.h"
#include "store/file.h"

namespace burin::runtime {

TextFile::TextFile(const std::string &path) : path_(path) {
  File file = openForReading(path, "data file");
  struct stat status {};
  if (fstat(file.get(), &status))
    fail("cannot read data file {}: {}", path, systemError());
  if (!S_ISREG(status.st_mode))
    fail("data file {} is not a regular file", path);
  size_ = static_cast<uint64_t>(status.st_size);
  if (size_ == 0)
    return; // the caller knows how much is needed and says so
  void *mapping = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapping == MAP_FAILED)
    fail("cannot map data file {}: {}", path, systemError());
  bytes_ = static_cast<const uint8_t *>(mapping);
}

void TextFile::checkBytes(int64_t vocab) const {
  if (vocab >= 256)
    return;
  const uint8_t *bad = std::find_if(bytes_, bytes_ + size_, [&](uint8_t id) { return id >= vocab; });
  if (bad != bytes_ + size_)
    fail("data file {}: token id {} at offset {}, but the model's vocabulary ends at {}", path_, *bad, bad - bytes_,
         vocab);
}

TextFile::~TextFile() {
  if (bytes_)
    munmap(const_cast<uint8_t *>(bytes_), size_);
}

uint64_t TextFile::fingerprint() const {
  const size_t edge = std::min<uint64_t>(size_, 65536);
  return fnv1a(bytes().substr(size_ - edge), fnv1a(bytes().substr(0, edge), fnv1a("") ^ size_));
}

void TextFile::useCharacters(const CharacterTokenizer &tokenizer) {
  ids_ = tokenizer.encode(bytes(), "data file " + path_);
  for (int32_t id = 0; id < tokenizer.vocab(); ++id)
    idBytes_.push_back(static_cast<uint8_t>(tokenizer.bytes(id)));
}

uint64_t TextFile::bytesOf(Part part) const {
  if (ids_.empty())
    return part.size();
  uint64_t sum = 0;
  for (uint64_t i = part.begin; i < part.end; ++i)
    sum += idBytes_[static_cast<size_t>(ids_[i])];
  return sum;
}

Parts split(const TextFile &text, double validFraction, int64_t length) {
  auto valid = static_cast<uint64_t>(static_cast<double>(text.size()) * validFraction);
  uint64_t train = text.size() - valid, need = static_cast<uint64_t>(length) + 1;
  if (text.size() == 0)
    fail("data file {} is empty: have 0 tokens, need {} for training alone", text.path(), need);
  if (train < need)
    fail("data file {} is too short: have {} tokens for training, need {} (the context of {} and one more)",
         text.path(), train, need, length);
  if (valid < 2)
    fail("data file {} is too short: have {} tokens for validation, need 2", text.path(), valid);
  return {{0, train}, {train, text.size()}};
}

void useTokenizer(TextFile &text, const Tokenizer &tokenizer, int64_t vocab) {
  if (auto *characters = dynamic_cast<const CharacterTokenizer *>(&tokenizer))
    text.useCharacters(*characters);
  else
    text.checkBytes(vocab);
}

std::unique_ptr<Tokenizer> chooseTokenizer(TextFile &text, const std::string &kind, int64_t vocab) {
  std::unique_ptr<Tokenizer> tokenizer;
  if (kind == "bytes" || (kind.empty() && vocab >= 256)) {
    tokenizer = std::make_unique<ByteTokenizer>();
  } else {
    tokenizer = std::make_unique<CharacterTokenizer>(text.bytes(), "data file " + text.path());
    if (tokenizer->vocab() > vocab)
      fail("data file {} has {} different characters, but the model's vocabulary has room for {}", text.path(),
           tokenizer->vocab(), vocab);
  }
  useTokenizer(text, *tokenizer, vocab);
  return tokenizer;
}

} // namespace burin::runtime
