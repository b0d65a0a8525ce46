// One function per subcommand adds its flags and says what to run. Actions return the exit code.
#pragma once
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <functional>

#include "abi/burin.h"

namespace burin::runtime {

using Action = std::function<int()>;

Action addTrain(CLI::App &app, const burin_model &model);
Action addEval(CLI::App &app, const burin_model &model);
Action addGenerate(CLI::App &app, const burin_model &model);
Action addInfo(CLI::App &app, const burin_model &model);
Action addBench(CLI::App &app, const burin_model &model);

// `--threads`, the same everywhere.
void addThreads(CLI::App &command, int &threads);

} // namespace burin::runtime
