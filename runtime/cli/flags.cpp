// Flags that several commands have.
#include "cli/commands.h"

namespace burin::runtime {

CLI::Option *addText(CLI::App &command, std::string flag, std::string &field, std::string help) {
  auto present = [](std::string &text) { return text.empty() ? "must not be empty" : std::string(); };
  return command.add_option(std::move(flag), field, std::move(help))->check(CLI::Validator(present, ""));
}

CLI::Option *addDeviceKind(CLI::App &command, std::string &kind) {
  return command
      .add_option("--device", kind,
                  "where to compute: cpu, gpu, or auto: a GPU if the program has code for one that is here")
      ->check(CLI::IsMember({"auto", "cpu", "gpu"}))
      ->capture_default_str();
}

void addThreads(CLI::App &command, int &threads) {
  addNumber(command, "--threads", threads, "threads to compute with; results do not depend on it [all]")
      ->check(CLI::Range(1, maxThreads));
}

void addDevice(CLI::App &command, DeviceOptions &options) {
  addDeviceKind(command, options.kind);
  addThreads(command, options.threads);
}

} // namespace burin::runtime
