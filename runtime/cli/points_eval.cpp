// `MODEL eval` of a regression: the mean squared error of a checkpoint on points.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "store/checkpoint.h"
#include "train/regression_task.h"
#include "train/run.h"

namespace burin::runtime {

Action addPointsEval(CLI::App &app, const Models &models) {
  struct Options {
    std::string data, checkpoint, part = "valid";
    DeviceOptions device;
    bool json = false;
  };
  CLI::App *command = app.add_subcommand("eval", "mean squared error of a checkpoint on points");
  auto options = std::make_shared<Options>();
  addText(*command, "--checkpoint", options->checkpoint, "checkpoint.safetensors of a run")->required();
  command->add_option("--data", options->data, "file of lines x,y [the data of the run]");
  command->add_option("--part", options->part, "valid, train or all of the points")
      ->check(CLI::IsMember({"valid", "train", "all"}))
      ->capture_default_str();
  command->add_flag("--json", options->json, "print one JSON object");
  addDevice(*command, options->device);
  return [=, &models] {
    Device device = openDevice(models, options->device);
    TrainOptions run = savedOptions(options->checkpoint);
    if (!options->data.empty())
      run.data = options->data;
    RegressionData data(run);
    const std::vector<Point> &points = options->part == "all"     ? data.points
                                       : options->part == "valid" ? data.parts.valid
                                                                  : data.parts.train;
    if (points.empty())
      fail("{}: of {} points none is kept for validation; --part all takes them all", data.name, data.points.size());
    Checkpoint checkpoint = loadCheckpoint(options->checkpoint, device, /*withMoments=*/false);
    expectModel(options->checkpoint, checkpoint, device.model());
    PointsEvaluation result = evaluate(device, points);
    if (options->json)
      fmt::print(
          "{}\n",
          nlohmann::json({{"model", device.model().name}, {"loss", result.loss}, {"points", result.points}}).dump());
    else
      fmt::print("mean squared error  {:.6f}  ({} points)\n", result.loss, result.points);
    return 0;
  };
}

} // namespace burin::runtime
