#include "cli/guard.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "error.h"

namespace burin::runtime {
namespace {

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

} // namespace

int runCommand(CLI::App &app, int argc, char **argv, const std::vector<std::function<int()>> &actions) {
  app.require_subcommand(0, 1);
  const std::vector<CLI::App *> commands = app.get_subcommands([](CLI::App *) { return true; });
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &help) {
    return app.exit(help);
  } catch (const CLI::ParseError &error) {
    throw UsageError(error.what());
  }
  std::string names;
  for (size_t i = 0; i < commands.size(); ++i) {
    if (commands[i]->parsed())
      return actions[i]();
    names += (i == 0 ? "" : i + 1 == commands.size() ? " or " : ", ") + commands[i]->get_name();
  }
  throw UsageError("a command is required: " + names + "; --help explains each");
}

int guarded(const std::function<int()> &body) {
  // A file-size limit then shows as a failed write, which is handled, instead of killing the program while it saves.
  std::signal(SIGXFSZ, SIG_IGN);
  holdStandardStreams();
  try {
    int code = body();
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

} // namespace burin::runtime
