// Compiles kernels written as tile-form text for one instruction set, loads the object into this process and calls them
// through the ABI, each tensor in memory that ends at a page nobody may touch.
//
//   Kernels kernels(machine);
//   kernels.add("scale", {"memref<8xf32>"}, "...tile form on %0, with %scratch...");
//   kernels.compile();
//   kernels.run("scale", {&x});
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace burin::test {

// An instruction set, named as `--cpu` names it.
struct Machine {
  std::string cpu;
  int64_t lanes, registers;
  bool isPresent() const;
};

std::vector<Machine> machines();
inline void PrintTo(const Machine &machine, std::ostream *out) { *out << machine.cpu; }
inline std::string nameOf(const testing::TestParamInfo<Machine> &info) {
  std::string name = info.param.cpu;
  for (char &c : name)
    c = c == '-' ? '_' : c;
  return name;
}

// Memory of a tensor argument. Its last byte is the last of a page, and the next page cannot be touched.
class Buffer {
public:
  explicit Buffer(int64_t elements);
  ~Buffer();
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  float *floats() const { return static_cast<float *>(start); }
  int32_t *integers() const { return static_cast<int32_t *>(start); }
  int64_t size() const { return elements; }

private:
  int64_t elements;
  void *pages = nullptr, *start = nullptr;
  size_t bytes = 0;
};

class Kernels {
public:
  explicit Kernels(Machine machine) : machine(std::move(machine)) {}
  ~Kernels();
  Kernels(const Kernels &) = delete;
  Kernels &operator=(const Kernels &) = delete;

  // The body sees tensors %0, %1, ..., the cell's number %cell, the constants %zero and %one, and 1 MiB of %scratch.
  void add(const std::string &name, const std::vector<std::string> &types, const std::string &body);
  void compile();
  void run(const std::string &name, const std::vector<const Buffer *> &buffers, int64_t first = 0,
           int64_t last = 1) const;
  using Function = void (*)(void *const *buffers, const int64_t *args, int64_t first, int64_t last, void *scratch);
  Function function(const std::string &name) const;

private:
  Machine machine;
  std::string text;
  void *library = nullptr;
};

// A tile of argument `argument` as text: its type, and the op that makes it, as %<name>.
struct TileText {
  int argument = 0;
  int64_t offset = 0;
  std::vector<int64_t> sizes, strides;
  std::string element = "f32";

  std::string type() const;
  std::string define(const std::string &name) const;
  int64_t end() const; // elements from the buffer's start to the tile's end
};

std::string flatType(int64_t elements, const std::string &element = "f32");
std::string join(const std::vector<int64_t> &numbers, const char *between = ", ");

// Calls visit(index) for each index into sizes, the last one fastest.
template <typename Visit> void forEachIndex(const std::vector<int64_t> &sizes, Visit visit) {
  std::vector<int64_t> index(sizes.size(), 0);
  for (int64_t size : sizes)
    if (size == 0)
      return;
  while (true) {
    visit(index);
    size_t d = sizes.size();
    while (d-- > 0) {
      if (++index[d] < sizes[d])
        break;
      index[d] = 0;
      if (d == 0)
        return;
    }
    if (sizes.empty())
      return;
  }
}

inline int64_t linear(const std::vector<int64_t> &index, const std::vector<int64_t> &strides) {
  int64_t at = 0;
  for (size_t d = 0; d < index.size(); ++d)
    at += index[d] * strides[d];
  return at;
}

// Deterministic numbers in [-1, 1).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 2654435761u + 12345) {}
  float next() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(static_cast<int64_t>(state >> 40) - (1 << 23)) / (1 << 23);
  }

private:
  uint64_t state;
};

// The sizes at which vectorised loops go wrong.
inline const std::vector<int64_t> oddSizes = {1, 2, 3, 5, 7, 13, 17, 31, 33, 63, 65, 127, 129};

} // namespace burin::test
