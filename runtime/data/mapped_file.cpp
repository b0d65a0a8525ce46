// Touching a page behind a file's end raises SIGBUS. The handler puts zeros where the file was, so that whoever read
// there goes on, and notes it; the reader asks afterwards and throws. An end within a page raises nothing and reads as
// zeros, too, so the size is asked as well.
#include "data/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <utility>

#include "error.h"

namespace burin::runtime {

// One mapping, as the handler sees it. Regions are used again but never freed: the handler walks their list while other
// threads map and unmap.
struct MappedFile::Region {
  std::atomic<uintptr_t> begin{0}, end{0}; // empty: not in use
  std::atomic<bool> broken{false};
  Region *next = nullptr;

  static inline std::atomic<Region *> first{nullptr};
  static inline std::mutex changes;

  static Region *take(const void *data, uint64_t size);
  void giveBack();
  static void install();
  static void handle(int signal, siginfo_t *info, void *context);
};

void MappedFile::Region::handle(int signal, siginfo_t *info, void *) {
  auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Region *region = first.load(); region; region = region->next) {
    uintptr_t end = region->end.load();
    if (address < region->begin.load() || address >= end)
      continue;
    region->broken.store(true);
    auto page = address & ~static_cast<uintptr_t>(sysconf(_SC_PAGESIZE) - 1);
    void *zeros = mmap(reinterpret_cast<void *>(page), end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                       -1, 0); // a plain system call: safe in a handler
    if (zeros != MAP_FAILED)
      return;
  }
  std::signal(signal, SIG_DFL); // not ours: the program ends as it would have
  std::raise(signal);
}

void MappedFile::Region::install() {
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

MappedFile::Region *MappedFile::Region::take(const void *data, uint64_t size) {
  static std::once_flag installed;
  std::call_once(installed, install);
  std::lock_guard lock(changes);
  Region *region = first.load();
  while (region && region->end.load() != 0)
    region = region->next;
  if (!region) {
    region = new Region;
    region->next = first.load();
    first.store(region);
  }
  region->broken.store(false);
  region->begin.store(reinterpret_cast<uintptr_t>(data));
  region->end.store(reinterpret_cast<uintptr_t>(data) + size);
  return region;
}

void MappedFile::Region::giveBack() {
  std::lock_guard lock(changes);
  end.store(0);
}

MappedFile::MappedFile(const std::string &path) : path_(path), file_(openForReading(path, "data file")) {
  struct stat status {};
  if (fstat(file_.get(), &status))
    fail("cannot read data file {}: {}", path, systemError());
  if (!S_ISREG(status.st_mode))
    fail("data file {} is not a regular file", path);
  size_ = static_cast<uint64_t>(status.st_size);
  if (size_ == 0)
    return;
  void *mapping = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file_.get(), 0);
  if (mapping == MAP_FAILED)
    fail("cannot map data file {}: {}", path, systemError());
  data_ = static_cast<const char *>(mapping);
  region_ = Region::take(data_, size_);
}

MappedFile::MappedFile(MappedFile &&other) noexcept
    : path_(std::move(other.path_)), file_(std::move(other.file_)), data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)), region_(std::exchange(other.region_, nullptr)) {}

MappedFile::~MappedFile() {
  if (!region_)
    return;
  region_->giveBack();
  munmap(const_cast<char *>(data_), size_);
}

void MappedFile::release(uint64_t begin, uint64_t end) const {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  if (begin < end) // where it is refused nothing is lost but memory
    madvise(const_cast<char *>(data_) + begin, end - begin, MADV_DONTNEED);
}

void MappedFile::expectWhole() const {
  if (!region_)
    return;
  struct stat status {};
  if (fstat(file_.get(), &status))
    fail("cannot read data file {}: {}", path_, systemError());
  if (auto now = static_cast<uint64_t>(status.st_size); now < size_)
    fail("data file {} was cut off while it was in use: it has {} bytes now, {} when it was opened", path_, now, size_);
  if (region_->broken.load())
    fail("data file {} could not be read: its disk failed, or it was cut off for a moment", path_);
}

} // namespace burin::runtime
