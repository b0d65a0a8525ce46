// The command line of a generator. Not llvm::cl: that is shared with all of LLVM, whose own `--stop-after` means
// something else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace burin {

struct GeneratorOptions {
  std::string model, name;
  int64_t batch = 0, length = 0;
  std::string cpu = "native", target, symbol, dtype = "f32", out = ".", sourceRoot;
  std::string stopAfter;
  std::vector<std::string> without, with;
  bool stages = false, remarks = false, table = false, help = false;
};

// Of an option that is given twice the last one counts, so that a build's command line can be called again with others
// behind it. False with `error` set for what is no option, or lacks its value.
bool parseOptions(int argc, char **argv, GeneratorOptions &options, std::string &error);

// What `--help` prints.
std::string optionsHelp(const std::string &program);

} // namespace burin
