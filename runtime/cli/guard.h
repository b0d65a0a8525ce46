// The one place of a program that catches, prints errors and decides exit codes.
#pragma once
#include <CLI/App.hpp>
#include <functional>
#include <vector>

namespace burin::runtime {

// Runs the program: 0 or what `body` returns, 1 for an error, 2 for one of usage, printed as one line.
int guarded(const std::function<int()> &body);

// Parses the command line and runs the action of the subcommand it names; the actions stand in the subcommands' order.
int runCommand(CLI::App &app, int argc, char **argv, const std::vector<std::function<int()>> &actions);

} // namespace burin::runtime
