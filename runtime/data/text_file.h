// A text as a sequence of token ids, memory-mapped: only the pages that are read come into memory. One byte is one
// token, or a tokenizer makes the ids, and then those of the whole text are kept besides.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "data/mapped_file.h"
#include "data/tokens.h"
#include "text/tokenizer.h"

namespace burin::runtime {

class TextFile : public Tokens {
public:
  // The tokens are bytes. With `vocab` every id must be below it; the first that is not is an error with its place.
  explicit TextFile(MappedFile file) : file_(std::move(file)) {}
  explicit TextFile(const std::string &path) : TextFile(MappedFile(path)) {}
  TextFile(const std::string &path, int64_t vocab) : TextFile(path) { checkBytes(vocab); }

  void checkBytes(int64_t vocab) const;
  // From here on the tokens are the tokenizer's; a text that it has no ids for is an error.
  void encode(const Tokenizer &tokenizer);

  uint64_t size() const override { return encoded_ ? ids_.size() : file_.size(); }
  void read(uint64_t first, std::span<int32_t> ids) const override;
  const std::string &path() const override { return file_.path(); }

  std::string_view bytes() const { return file_.bytes(); }
  const MappedFile &file() const { return file_; }
  // A cheap fingerprint: size, head and tail. Tells a resumed run that it got another text.
  uint64_t fingerprint() const;

private:
  MappedFile file_;
  bool encoded_ = false;
  std::vector<int32_t> ids_;
};

// Size, head and tail of some bytes in one number.
uint64_t edgesOf(std::string_view bytes);

// The tokenizer of a new run on `text`: by bytes, by characters, or, where nobody says, by bytes if the model has an id
// for each of them and else by characters. More characters than the model has ids are an error with both numbers. The
// text uses it from then on.
std::unique_ptr<Tokenizer> chooseTokenizer(TextFile &text, const std::string &kind, int64_t vocab);
// A tokenizer that is there already, from a checkpoint or a file.
void useTokenizer(TextFile &text, const Tokenizer &tokenizer, int64_t vocab);

} // namespace burin::runtime
