// The errors that a user of the program meets: one line that says what was found and what was expected. Thrown anywhere
// in runtime/, caught only in cliMain and at the C interface.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace burin::runtime {

// Something outside the program is not as it must be: a file, the machine, a value. Exit code 1.
struct Error : std::runtime_error {
  explicit Error(std::string message) : std::runtime_error(withoutNul(std::move(message))) {}

private:
  // what() would end at a NUL that the message quotes from a file.
  static std::string withoutNul(std::string message) {
    std::replace(message.begin(), message.end(), '\0', ' ');
    return message;
  }
};

// The command line asks for something that makes no sense. Exit code 2.
struct UsageError : Error {
  using Error::Error;
};

// The machine has no GPU that the model can run on: what `--device auto` takes as a reason to use the CPU. Exit code 1.
struct NoDevice : Error {
  using Error::Error;
};

template <typename... Args> [[noreturn]] void fail(fmt::format_string<Args...> format, Args &&...args) {
  throw Error(fmt::format(format, std::forward<Args>(args)...));
}

} // namespace burin::runtime
