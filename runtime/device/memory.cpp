// Small blocks come from the heap, where sanitizers watch their bounds; large ones are mappings of their own, so that
// they can use huge pages and cost nothing until they are touched.
#include "device/memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "error.h"

namespace burin::runtime {
namespace {

constexpr size_t alignment = 64;
constexpr size_t hugePage = size_t{2} << 20;

size_t roundUp(size_t size, size_t unit) { return (size + unit - 1) / unit * unit; }

} // namespace

Memory::Memory(size_t size, const char *purpose) : size_(size) {
  if (size == 0)
    return;
  if (size > SIZE_MAX / 2)
    fail("the model asks for {} bytes of memory for {}", size, purpose);
  if (size < hugePage) {
    data_ = static_cast<std::byte *>(std::aligned_alloc(alignment, roundUp(size, alignment)));
    if (!data_)
      fail("not enough memory: {} bytes for {}", size, purpose);
    std::memset(data_, 0, roundUp(size, alignment));
    return;
  }
  // Map a huge page more than needed and give back both ends, so that the block starts on a huge page.
  size_t wanted = roundUp(size, 4096);
  void *mapping = mmap(nullptr, wanted + hugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    fail("not enough memory: {} bytes for {}", size, purpose);
  auto *start = static_cast<std::byte *>(mapping);
  size_t head = (hugePage - reinterpret_cast<uintptr_t>(start) % hugePage) % hugePage;
  if (head)
    munmap(start, head);
  munmap(start + head + wanted, hugePage - head);
  data_ = start + head;
  mapped_ = wanted;
  madvise(data_, mapped_, MADV_HUGEPAGE); // advice only: a machine without huge pages still has the memory
}

Memory::Memory(Memory &&other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)) {}

Memory &Memory::operator=(Memory &&other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

Memory::~Memory() {
  if (mapped_)
    munmap(data_, mapped_);
  else
    std::free(data_);
}

} // namespace burin::runtime
