// Flags that several commands have.
#include "cli/commands.h"
#include "device/device.h"

namespace burin::runtime {

CLI::Option *addText(CLI::App &command, std::string flag, std::string &field, std::string help) {
  auto present = [](std::string &text) { return text.empty() ? "must not be empty" : std::string(); };
  return command.add_option(std::move(flag), field, std::move(help))->check(CLI::Validator(present, ""));
}

void addThreads(CLI::App &command, int &threads) {
  addNumber(command, "--threads", threads, "threads to compute with; results do not depend on it [all]")
      ->check(CLI::Range(1, maxThreads));
}

} // namespace burin::runtime
