#include "order.h"
#include <algorithm>

namespace simt {
namespace {

// Bourdoncle's recursive algorithm; an explicit stack is not needed for functions of some thousand blocks.
class Order {
public:
  explicit Order(const std::vector<std::vector<int>> &successors)
      : successors(successors), number(successors.size(), 0) {}

  std::vector<int> run() {
    std::vector<int> backwards;
    visit(0, backwards);
    std::reverse(backwards.begin(), backwards.end());
    return backwards;
  }

private:
  static constexpr int DONE = 1 << 30;

  // Orders are built back to front.
  int visit(int block, std::vector<int> &to) {
    stack.push_back(block);
    int head = number[block] = ++count;
    bool loop = false;
    for (const int next : successors[block]) {
      const int least = number[next] == 0 ? visit(next, to) : number[next];
      if (least <= head) {
        head = least;
        loop = true;
      }
    }
    if (head != number[block])
      return head;
    number[block] = DONE;
    int element = stack.back();
    stack.pop_back();
    if (!loop) {
      to.push_back(block);
      return head;
    }
    while (element != block) {
      number[element] = 0;
      element = stack.back();
      stack.pop_back();
    }
    std::vector<int> component;
    for (const int next : successors[block])
      if (number[next] == 0)
        visit(next, component);
    to.insert(to.end(), component.begin(), component.end());
    to.push_back(block);
    return head;
  }

  const std::vector<std::vector<int>> &successors;
  std::vector<int> number, stack;
  int count = 0;
};

} // namespace

std::vector<int> weakTopologicalOrder(const std::vector<std::vector<int>> &successors) {
  return Order(successors).run();
}

} // namespace simt
