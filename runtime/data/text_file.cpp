// The mapping is read-only and private; ids are checked once, so that no step has to.
#include "data/text_file.h"

#include <algorithm>
#include <thread>

#include "error.h"
#include "hash.h"

namespace burin::runtime {

void TextFile::checkBytes(int64_t vocab) const {
  if (vocab >= 256)
    return;
  auto bad =
      std::find_if(bytes().begin(), bytes().end(), [&](char id) { return static_cast<unsigned char>(id) >= vocab; });
  if (bad != bytes().end())
    fail("data file {}: token id {} at offset {}, but the model's vocabulary ends at {}", path(),
         static_cast<unsigned char>(*bad), bad - bytes().begin(), vocab);
}

void TextFile::read(uint64_t first, std::span<int32_t> ids) const {
  if (encoded_) {
    std::copy_n(ids_.begin() + static_cast<std::ptrdiff_t>(first), ids.size(), ids.begin());
    return;
  }
  std::transform(bytes().begin() + static_cast<std::ptrdiff_t>(first),
                 bytes().begin() + static_cast<std::ptrdiff_t>(first + ids.size()), ids.begin(),
                 [](char byte) { return static_cast<unsigned char>(byte); });
  file_.expectWhole();
}

uint64_t edgesOf(std::string_view bytes) {
  const size_t edge = std::min<size_t>(bytes.size(), 65536);
  return fnv1a(bytes.substr(bytes.size() - edge), fnv1a(bytes.substr(0, edge), fnv1a("") ^ bytes.size()));
}

uint64_t TextFile::fingerprint() const { return edgesOf(bytes()); }

void TextFile::encode(const Tokenizer &tokenizer) {
  int threads = std::min(8, static_cast<int>(std::thread::hardware_concurrency()));
  ids_ = encodeParallel(tokenizer, bytes(), std::max(1, threads), "data file " + path());
  encoded_ = true;
  file_.expectWhole();
}

void useTokenizer(TextFile &text, const Tokenizer &tokenizer, int64_t vocab) {
  if (dynamic_cast<const ByteTokenizer *>(&tokenizer)) {
    text.checkBytes(vocab);
    return;
  }
  if (tokenizer.vocab() > vocab)
    fail("the tokenizer has {} ids, but the model's vocabulary has room for {}", tokenizer.vocab(), vocab);
  text.encode(tokenizer);
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
