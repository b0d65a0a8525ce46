// Token ids in files: our own format, and those of others, recognised by what is in them.
//
// Ours, little-endian: 64 bytes of header, then `count` ids of `width` bytes. Every header field is in TokenHeader.
#pragma once
#include <string>
#include <vector>

#include "data/checksum.h"
#include "data/mapped_file.h"
#include "data/tokens.h"
#include "store/file.h"

namespace burin::runtime {

struct TokenHeader {
  char magic[8];      // "BURINTOK"
  uint32_t version;   // 1
  uint32_t width;     // bytes of an id: 2 or 4
  uint64_t count;     // ids in this file
  int64_t vocab;      // ids are in [0, vocab)
  uint64_t tokenizer; // Tokenizer::hash() of the tokenizer that made them
  uint64_t checksum;  // XXH64 of the ids' bytes
  uint64_t reserved;  // 0
  uint64_t own;       // XXH64 of the 56 bytes before
};
static_assert(sizeof(TokenHeader) == 64);

enum class DataFormat {
  text,  // whatever is none of the others
  burin, // see above
  llmc,  // llm.c: 256 int32 (magic 20240520, version 1, count), then u16
  npy,   // NumPy: a one-dimensional array of whole numbers
  raw16, // nanoGPT: u16 and nothing else
};

// What the content looks like. Others have headers; raw ids are bytes whose first 64 KiB
// - hold a byte 0: every id below 256 has one, and a text has none;
// - are no UTF-8, or a quarter of them are 0: so are only ids below 128, and a text with a stray 0 is the opposite;
// - are ids below `vocab` for the greater part: two letters make one above 8000. A few that are not are an error later.
// All else is a text. `vocab` is that of the model or tokenizer; 0: not known.
DataFormat recognise(std::string_view content, int64_t vocab = 0);

// The bytes that an id takes in a vocabulary of that size: the least of 2 and 4 in which no id wraps.
uint32_t idWidth(int64_t vocab);

// Writes one file of ids. Until commit() there is none of that name.
class TokenFileWriter {
public:
  TokenFileWriter(const std::string &path, int64_t vocab, uint64_t tokenizer);
  void add(std::span<const int32_t> ids);
  uint64_t count() const { return count_; }
  // Returns the checksum of the ids.
  uint64_t commit();

private:
  void flush();

  std::string path_;
  int64_t vocab_;
  uint64_t tokenizer_, count_ = 0;
  uint32_t width_;
  Checksum sum_;
  std::vector<char> waiting_;
  AtomicFile file_;
};

// One mapped file of ids of any format but text. The header and what it says of the file are checked, not yet the ids.
class TokenFile {
public:
  explicit TokenFile(MappedFile file);
  explicit TokenFile(const std::string &path) : TokenFile(MappedFile(path)) {}

  DataFormat format() const { return format_; }
  // "raw token ids of 16 bits (nanoGPT)": what it was taken for.
  const std::string &formatText() const { return formatText_; }
  uint64_t size() const { return count_; }
  const std::string &path() const { return file_.path(); }
  int64_t vocab() const { return vocab_; }          // 0: the file does not say
  uint64_t tokenizer() const { return tokenizer_; } // 0: the file does not say
  uint64_t checksum() const { return checksum_; }   // of our own format
  std::string_view bytes() const { return file_.bytes(); }

  // Copies ids; one at or above `vocab`, or below 0, is an error with its place.
  void read(uint64_t first, std::span<int32_t> ids, int64_t vocab) const;
  // The ids are done with: see MappedFile::release.
  void release(uint64_t first, uint64_t count) const;
  // Reads all of the file against the checksum in its header, if it has one.
  void expectChecksum() const;
  // Reads all ids.
  void checkAll(int64_t vocab) const;

private:
  void readBurin();
  void readLlmc();
  void readNpy();
  void expectSize(uint64_t headerBytes, uint64_t count);
  std::string_view ids() const { return file_.bytes().substr(start_); }

  MappedFile file_;
  DataFormat format_;
  std::string formatText_;
  uint64_t start_ = 0, count_ = 0; // the ids' first byte, their number
  uint32_t width_ = 2;
  bool isSigned_ = false;
  int64_t vocab_ = 0;
  uint64_t tokenizer_ = 0, checksum_ = 0;
};

// Files of ids as one sequence, whose windows may reach from one into the next.
class TokenFiles : public Tokens {
public:
  // `vocab`: of the model; a file that tells of a larger one is an error with both numbers.
  TokenFiles(std::string path, std::vector<TokenFile> files, int64_t vocab);

  uint64_t size() const override { return firsts_.back(); }
  void read(uint64_t first, std::span<int32_t> ids) const override;
  const std::string &path() const override { return path_; }
  const std::vector<TokenFile> &files() const { return files_; }
  // Every id of every file.
  void checkAll() const;

private:
  std::string path_;
  std::vector<TokenFile> files_;
  std::vector<uint64_t> firsts_; // of each file, and the end
  int64_t vocab_;
};

} // namespace burin::runtime
