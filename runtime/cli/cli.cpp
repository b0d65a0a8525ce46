// The commands of a model's program.
#include "cli/cli.h"

#include <vector>

#include "cli/commands.h"
#include "cli/guard.h"
#include "device/device.h"
#include "train/task.h"

namespace burin {
namespace {

using namespace runtime;

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
  return guarded([&] { return dispatch(model, argc, argv); });
}

} // namespace burin
