// The program `burin-text`: makes tokenizers and uses them.
#include "cli/guard.h"
#include "cli/text/commands.h"
#include "error.h"

namespace burin::runtime {
namespace {

struct Command {
  const char *name;
  Action (*add)(CLI::App &app);
};

constexpr Command commands[] = {
    {"train", addTextTrain},   {"prepare", addTextPrepare}, {"encode", addTextEncode},
    {"decode", addTextDecode}, {"show", addTextShow},       {"convert", addTextConvert},
};

int dispatch(int argc, char **argv) {
  CLI::App app("burin-text: text to token ids and back; byte-level BPE, learnt here or read from files", "burin-text");
  app.require_subcommand(0, 1);
  std::vector<Action> actions;
  std::string names;
  for (const Command &command : commands) {
    actions.push_back(command.add(app));
    names += std::string(names.empty() ? "" : ", ") + command.name;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &help) {
    return app.exit(help);
  } catch (const CLI::ParseError &error) {
    throw UsageError(error.what());
  }
  for (size_t i = 0; i < actions.size(); ++i)
    if (app.got_subcommand(commands[i].name))
      return actions[i]();
  throw UsageError("a command is required: " + names + "; --help explains each");
}

} // namespace
} // namespace burin::runtime

int main(int argc, char **argv) {
  return burin::runtime::guarded([&] { return burin::runtime::dispatch(argc, argv); });
}
