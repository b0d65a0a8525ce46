// A file mapped for reading. When it shrinks, or its disk fails, while it is mapped, that is an error like any other
// and not the end of the program.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "store/file.h"

namespace burin::runtime {

class MappedFile {
public:
  // An empty file is mapped as nothing; the caller knows how much it needs and says so.
  explicit MappedFile(const std::string &path);
  MappedFile(MappedFile &&other) noexcept;
  MappedFile &operator=(MappedFile &&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }
  uint64_t size() const { return size_; }
  const std::string &path() const { return path_; }
  // To be called after bytes were read and before they are used: throws if they may not have been the file's. Where the
  // file ended early they read as zeros.
  void expectWhole() const;
  // The bytes [begin, end) are read and done with: their pages need not count as this program's memory. They may be
  // read again.
  void release(uint64_t begin, uint64_t end) const;

private:
  struct Region;

  std::string path_;
  File file_;
  const char *data_ = nullptr;
  uint64_t size_ = 0;
  Region *region_ = nullptr;
};

} // namespace burin::runtime
