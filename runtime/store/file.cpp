// The order of write, fsync, rename and fsync of the folder is what makes a checkpoint survive kill -9 and power loss.
#include "store/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "error.h"

namespace burin::runtime {
namespace {

std::string folderOf(const std::string &path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

} // namespace

File::File(File &&other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

File &File::operator=(File &&other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

File::~File() {
  if (descriptor_ >= 0)
    close(descriptor_);
}

std::string systemError() { return std::strerror(errno); }

File openForReading(const std::string &path, const char *what) {
  // Non-blocking, so that a named pipe is refused by its caller instead of waited for.
  File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0)
    fail("cannot open {} {}: {}", what, path, systemError());
  return file;
}

namespace {

// Where a symbolic link leads, so that not the link is replaced; and what is no file, such as a device, never is.
std::string replaceable(std::string path) {
  std::error_code ignored;
  if (std::filesystem::is_symlink(path, ignored))
    path = std::filesystem::weakly_canonical(path, ignored).string();
  const auto status = std::filesystem::status(path, ignored);
  if (exists(status) && !is_regular_file(status) && !is_directory(status)) // a rename says what a folder is
    fail("cannot write {}: it is a device or a pipe, and writing would replace it by a file", path);
  return path;
}

} // namespace

AtomicFile::AtomicFile(std::string path) : path_(replaceable(std::move(path))), temporary_(path_ + ".tmp") {
  file_ = File(open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file_.get() < 0)
    fail("cannot write {}: {}", temporary_, systemError());
}

AtomicFile::~AtomicFile() {
  if (!committed_)
    unlink(temporary_.c_str());
}

void AtomicFile::write(const void *data, size_t size) {
  const char *next = static_cast<const char *>(data);
  while (size) {
    ssize_t written = ::write(file_.get(), next, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      fail("cannot write {}: {}; what {} held before is untouched", temporary_, systemError(), path_);
    next += written;
    size -= static_cast<size_t>(written);
  }
}

void AtomicFile::writeFirst(const void *data, size_t size) {
  if (lseek(file_.get(), 0, SEEK_SET) < 0)
    fail("cannot write {}: {}; what {} held before is untouched", temporary_, systemError(), path_);
  write(data, size);
  if (lseek(file_.get(), 0, SEEK_END) < 0)
    fail("cannot write {}: {}; what {} held before is untouched", temporary_, systemError(), path_);
}

void AtomicFile::commit() {
  if (fsync(file_.get()) || std::rename(temporary_.c_str(), path_.c_str()))
    fail("cannot write {}: {}; what it held before is untouched", path_, systemError());
  committed_ = true;
  File folder(open(folderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot sync a folder (EINVAL); the rename is then as durable as they make it.
  if (folder.get() < 0 || (fsync(folder.get()) && errno != EINVAL))
    fail("cannot sync the folder of {}: {}", path_, systemError());
}

OutputFolder::OutputFolder(const std::string &path) : path_(path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (std::error_code ignored; error && !std::filesystem::is_directory(path, ignored))
    fail("cannot make the output folder {}: {}", path, error.message());
  lock_ = File(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock_.get() < 0)
    fail("cannot use the output folder {}: {}", path, systemError());
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
    fail("the output folder {} is in use by another run", path);
  std::string probe = file(".burin-write-test");
  File made(open(probe.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (made.get() < 0)
    fail("the output folder {} is not writable: {}", path, systemError());
  unlink(probe.c_str());
}

} // namespace burin::runtime
