// The program `burin-text`: makes tokenizers and uses them.
#include "cli/guard.h"
#include "cli/text/commands.h"

namespace burin::runtime {
namespace {

int dispatch(int argc, char **argv) {
  CLI::App app("burin-text: text to token ids and back; byte-level BPE, learnt here or read from files", "burin-text");
  std::vector<Action> actions;
  for (auto add : {addTextTrain, addTextPrepare, addTextEncode, addTextDecode, addTextShow, addTextConvert})
    actions.push_back(add(app));
  return runCommand(app, argc, argv, actions);
}

} // namespace
} // namespace burin::runtime

int main(int argc, char **argv) {
  return burin::runtime::guarded([&] { return burin::runtime::dispatch(argc, argv); });
}
