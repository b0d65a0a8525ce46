// Runs functions in processes of their own, so that a compiler that dies, or a compiled program that does, is a finding
// and not the end.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace burin::fuzz {

struct Task {
  std::function<std::string()> body; // in the child; its exceptions are the child's end
  // In the parent: what the body returned, or nothing and how the child ended.
  std::function<void(const std::optional<std::string> &answer, const std::string &end)> done;
};

// At most `jobs` at a time, each for at most `seconds`; `done` is called as they finish.
void runIsolated(std::vector<Task> tasks, int jobs, unsigned seconds);

} // namespace burin::fuzz
