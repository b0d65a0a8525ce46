// The commands of a model's program.
#include "cli/cli.h"

#include <vector>

#include "cli/commands.h"
#include "cli/guard.h"
#include "device/choice.h"
#include "train/task.h"

namespace burin {
namespace {

using namespace runtime;

int dispatch(const Models &models, int argc, char **argv) {
  checkModels(models);
  const burin_model &model = *models.front();
  const bool points = isRegression(model);
  std::string machines;
  for (const burin_model *each : models)
    machines += fmt::format("{}{}", machines.empty() ? "" : " and ", each->cpu);
  CLI::App app(fmt::format("{}: a {} compiled by Burin ({}, for {})", model.name,
                           points ? "regression" : "language model", model.dtype, machines),
               model.name);
  const std::vector<Action> actions = {
      addTrain(app, models), points ? addPointsEval(app, models) : addEval(app, models),
      points ? addPlot(app, models) : addGenerate(app, models), addInfo(app, models), addBench(app, models)};
  return runCommand(app, argc, argv, actions);
}

} // namespace

int cliMain(const burin_model &model, int argc, char **argv) { return cliMain({&model}, argc, argv); }

int cliMain(std::initializer_list<const burin_model *> models, int argc, char **argv) {
  return guarded([&] { return dispatch(models, argc, argv); });
}

} // namespace burin
