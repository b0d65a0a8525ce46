#include "text/special_tree.h"

#include <algorithm>
#include <cstring>

namespace burin::runtime {

const SpecialTree::Node *SpecialTree::step(const Node *node, char byte) const {
  for (auto [label, next] : node->next)
    if (label == byte)
      return &nodes_[next];
  return nullptr;
}

void SpecialTree::add(std::string_view text, int32_t id) {
  auto first = static_cast<unsigned char>(text[0]);
  first1_ = longest_ == 0 || first1_ == first ? first : -1;
  first_[first] = true;
  longest_ = std::max(longest_, text.size());
  size_t at = 0;
  for (char byte : text) {
    const Node *next = step(&nodes_[at], byte);
    if (!next) {
      nodes_[at].next.emplace_back(byte, static_cast<uint32_t>(nodes_.size()));
      next = &nodes_.emplace_back();
    }
    at = static_cast<size_t>(next - nodes_.data());
  }
  nodes_[at].id = id;
}

SpecialTree::Found SpecialTree::find(std::string_view text, size_t from) const {
  if (longest_ == 0)
    return {};
  for (size_t at = from; at < text.size(); ++at) {
    if (first1_ >= 0) {
      const void *next = std::memchr(text.data() + at, first1_, text.size() - at);
      if (!next)
        return {};
      at = static_cast<size_t>(static_cast<const char *>(next) - text.data());
    } else if (!first_[static_cast<unsigned char>(text[at])]) {
      continue;
    }
    Found found;
    const Node *node = nodes_.data();
    for (size_t end = at; end < text.size() && (node = step(node, text[end])); ++end)
      if (node->id >= 0)
        found = {at, end + 1 - at, node->id};
    if (found.id >= 0)
      return found;
  }
  return {};
}

bool SpecialTree::across(std::string_view text, size_t at) const {
  if (longest_ == 0)
    return false;
  for (size_t begin = at - std::min(at, longest_ - 1); begin < at; ++begin) {
    const Node *node = nodes_.data();
    size_t end = begin;
    while (end < text.size() && (node = step(node, text[end]))) {
      ++end;
      if (end > at && node->id >= 0)
        return true;
    }
    if (node && end == text.size()) // what follows the text might complete it
      return true;
  }
  return false;
}

} // namespace burin::runtime
