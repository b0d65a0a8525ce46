// Files that are either whole or absent, whatever happens while they are written.
#pragma once
#include <cstdint>
#include <string>

namespace burin::runtime {

// Owns a file descriptor.
class File {
public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File &&other) noexcept;
  File &operator=(File &&other) noexcept;
  ~File();
  int get() const { return descriptor_; }

private:
  int descriptor_ = -1;
};

// "No such file or directory": errno in words.
std::string systemError();

File openForReading(const std::string &path, const char *what);

// A file that takes the name `path` only in commit(): until then, and when the program dies at any moment, `path` is
// what it was before. Written beside it as `path`.tmp, which an unfinished write leaves behind for the next to replace.
class AtomicFile {
public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  void write(const void *data, size_t size);
  // Over what was written at the file's start: for a header that is known only at the end.
  void writeFirst(const void *data, size_t size);
  void commit();

private:
  std::string path_, temporary_;
  File file_;
  bool committed_ = false;
};

// Makes the folder if need be, proves that files can be made in it and locks it for this process.
class OutputFolder {
public:
  explicit OutputFolder(const std::string &path);
  std::string file(const std::string &name) const { return path_ + '/' + name; }

private:
  std::string path_;
  File lock_;
};

} // namespace burin::runtime
