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
  const std::vector<Action> actions = {addTrain(app, model), points ? addPointsEval(app, model) : addEval(app, model),
                                       points ? addPlot(app, model) : addGenerate(app, model), addInfo(app, model),
                                       addBench(app, model)};
  return runCommand(app, argc, argv, actions);
}

} // namespace

int cliMain(const burin_model &model, int argc, char **argv) {
  return guarded([&] { return dispatch(model, argc, argv); });
}

} // namespace burin
