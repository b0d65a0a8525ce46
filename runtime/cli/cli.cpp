// The only place of the program that catches, prints errors and decides exit codes.
#include "cli/cli.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <vector>

#include "cli/commands.h"
#include "device/device.h"

namespace burin {
namespace {

using namespace runtime;

int complain(int code, std::string message) {
  for (char &c : message)
    if (c == '\n')
      c = ' ';
  std::fflush(stdout);
  fmt::print(stderr, "error: {}\n", message);
  return code;
}

int dispatch(const burin_model &model, int argc, char **argv) {
  checkModel(model);
  CLI::App app(fmt::format("{}: a language model compiled by Burin ({}, for {})", model.name, model.dtype, model.cpu),
               model.name);
  app.require_subcommand(0, 1);
  std::vector<Action> actions = {addTrain(app, model), addEval(app, model), addGenerate(app, model),
                                 addInfo(app, model), addBench(app, model)};
  const std::vector<CLI::App *> commands = app.get_subcommands([](CLI::App *) { return true; });
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &help) {
    return app.exit(help);
  } catch (const CLI::ParseError &error) {
    throw UsageError(error.what());
  }
  for (size_t i = 0; i < commands.size(); ++i)
    if (commands[i]->parsed())
      return actions[i]();
  throw UsageError("a command is required: train, eval, generate, info or bench; --help explains each");
}

} // namespace

int cliMain(const burin_model &model, int argc, char **argv) {
  // A file-size limit then shows as a failed write, which is handled, instead of killing the program while it saves.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    int code = dispatch(model, argc, argv);
    if (std::fflush(stdout) != 0 && code == 0)
      return complain(1, "cannot write to standard output");
    return code;
  } catch (const UsageError &error) {
    return complain(2, error.what());
  } catch (const Error &error) {
    return complain(1, error.what());
  } catch (const std::bad_alloc &) {
    return complain(1, "not enough memory");
  } catch (const std::exception &error) {
    return complain(1, fmt::format("internal error: {} (please report)", error.what()));
  }
}

} // namespace burin
