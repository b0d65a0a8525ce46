// The one place of a program that catches, prints errors and decides exit codes.
#pragma once
#include <functional>

namespace burin::runtime {

// Runs the program: 0 or what `body` returns, 1 for an error, 2 for one of usage, printed as one line.
int guarded(const std::function<int()> &body);

} // namespace burin::runtime
