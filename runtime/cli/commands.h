// One function per subcommand adds its flags and says what to run. Actions return the exit code. Flags depend on what
// is the same in all models of a program.
#pragma once
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>
#include <functional>
#include <optional>
#include <string>

#include "device/choice.h"

namespace burin::runtime {

using Action = std::function<int()>;

Action addTrain(CLI::App &app, const Models &models);
Action addEval(CLI::App &app, const Models &models);
Action addGenerate(CLI::App &app, const Models &models);
// The same for a regression, and its picture.
Action addPointsEval(CLI::App &app, const Models &models);
Action addPlot(CLI::App &app, const Models &models);
Action addInfo(CLI::App &app, const Models &models);
Action addBench(CLI::App &app, const Models &models);

// A flag for a number, as people write it in decimal: CLI11 alone reads "" as 0, 010 as 8 and 0x10 as 16.
template <typename T> struct NumberOf { using type = T; };
template <typename T> struct NumberOf<std::optional<T>> { using type = T; };
template <typename T> CLI::Option *addNumber(CLI::App &command, std::string flag, T &field, std::string help) {
  using Number = typename NumberOf<T>::type;
  auto decimal = [](std::string &text) -> std::string {
    Number value{};
    const char *end = text.data() + text.size(), *begin = text.data() + (text.starts_with('+') ? 1 : 0);
    auto [stop, error] = std::from_chars(begin, end, value);
    if (stop != end || error == std::errc::invalid_argument)
      return "'" + text + "' is not a " + (std::is_integral_v<Number> ? "whole number" : "number");
    if (error == std::errc::result_out_of_range) // CLI11 would take the nearest number that there is
      return "'" + text + "' is too large or too small a number";
    if (std::is_integral_v<Number>)
      text = std::to_string(value);
    return {};
  };
  return command.add_option(std::move(flag), field, std::move(help))->transform(CLI::Validator(decimal, ""));
}

// A flag for a text that must not be empty, such as a path.
CLI::Option *addText(CLI::App &command, std::string flag, std::string &field, std::string help);

// `--threads`, the same everywhere; and with it `--device` where a model runs.
void addThreads(CLI::App &command, int &threads);
void addDevice(CLI::App &command, DeviceOptions &options);
CLI::Option *addDeviceKind(CLI::App &command, std::string &kind);

} // namespace burin::runtime
