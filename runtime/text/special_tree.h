// Texts that are cut out of a text before anything else, as a tree of bytes: of those that begin at the first possible
// place, the longest counts, whatever the order they were declared in.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace burin::runtime {

class SpecialTree {
public:
  struct Found {
    size_t begin = 0, bytes = 0;
    int32_t id = -1; // -1: none
  };

  void add(std::string_view text, int32_t id);
  // The first in text[from..].
  Found find(std::string_view text, size_t from) const;
  // Whether one lies across the place `at`, or could if other text followed.
  bool across(std::string_view text, size_t at) const;
  size_t longest() const { return longest_; } // 0: there are none

private:
  struct Node {
    int32_t id = -1;
    std::vector<std::pair<char, uint32_t>> next; // few
  };
  const Node *step(const Node *node, char byte) const;

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::array<bool, 256> first_{};
  int first1_ = -1; // the first byte of all, if it is the same
  size_t longest_ = 0;
};

} // namespace burin::runtime
