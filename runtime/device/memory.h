// One block of zeroed, 64-byte aligned memory: what a buffer of the model lives in.
#pragma once
#include <cstddef>

namespace burin::runtime {

class Memory {
public:
  Memory() = default;
  // `purpose` names the block in the message when the machine has too little memory.
  Memory(size_t size, const char *purpose);
  Memory(Memory &&other) noexcept;
  Memory &operator=(Memory &&other) noexcept;
  ~Memory();

  std::byte *data() const { return data_; }
  size_t size() const { return size_; }

private:
  std::byte *data_ = nullptr;
  size_t size_ = 0;
  size_t mapped_ = 0; // bytes of the mapping that `data_` lies at the start of; 0 when it came from the heap
};

} // namespace burin::runtime
