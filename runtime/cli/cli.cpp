// The only place of the program that catches, prints errors and decides exit codes.
#include "cli/cli.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <vector>

#include "cli/commands.h"
#include "device/device.h"
#include "train/task.h"

namespace burin {
namespace {

using namespace runtime;

// The number of a closed standard stream would go to the next file that is opened, and what is printed into that file.
void holdStandardStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) // nothing can be written to stdout's stand-in: that it is lost must be noticed
      (void)open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

int complain(int code, std::string message) {
  // What a file says of itself may be quoted: it shall neither fill the screen nor command the terminal.
  constexpr size_t head = 1000, tail = 300;
  if (message.size() > head + tail)
    message = message.substr(0, head) + " ... " + message.substr(message.size() - tail);
  for (char &c : message)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f')
      c = ' ';
  std::fflush(stdout);
  std::fputs(("error: " + message + '\n').c_str(), stderr);
  return code;
}

int dispatch(const burin_model &model, int argc, char **argv) {
  checkModel(model);
  const bool points = isRegression(model);
  CLI::App app(fmt::format("{}: a {} compiled by Burin ({}, for {})", model.name,
                           points ? "regression" : "language model", model.dtype, model.cpu),
               model.name);
  app.require_subcommand(0, 1);
  std::vector<Action> actions = {addTrain(app, model), points ? addPointsEval(app, model) : addEval(app, model),
                                 points ? addPlot(app, model) : addGenerate(app, model), addInfo(app, model),
                                 addBench(app, model)};
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
  throw UsageError(fmt::format("a command is required: train, eval, {}, info or bench; --help explains each",
                               points ? "plot" : "generate"));
}

} // namespace

int cliMain(const burin_model &model, int argc, char **argv) {
  // A file-size limit then shows as a failed write, which is handled, instead of killing the program while it saves.
  std::signal(SIGXFSZ, SIG_IGN);
  holdStandardStreams();
  try {
    int code = dispatch(model, argc, argv);
    if ((std::fflush(stdout) != 0 || std::ferror(stdout)) && code == 0)
      return complain(1, "cannot write to standard output");
    return code;
  } catch (const UsageError &error) {
    return complain(2, error.what());
  } catch (const Error &error) {
    return complain(1, error.what());
  } catch (const std::bad_alloc &) {
    return complain(1, "not enough memory");
  } catch (const std::exception &error) {
    if (std::ferror(stdout))
      return complain(1, "cannot write to standard output");
    return complain(1, fmt::format("internal error: {} (please report)", error.what()));
  }
}

} // namespace burin
