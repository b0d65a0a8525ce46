// The one place that knows which tasks there are.
#include "train/task.h"

#include <string_view>

#include "train/language_task.h"
#include "train/regression_task.h"

namespace burin::runtime {

bool isRegression(const burin_model &model) {
  for (int64_t i = 0; i < model.num_entries; ++i)
    for (int64_t j = 0; j < model.entries[i].num_inputs; ++j)
      if (std::string_view(model.entries[i].inputs[j].name) == "tokens")
        return false;
  for (int64_t i = 0; i < model.num_entries; ++i)
    if (std::string_view(model.entries[i].name) == "prediction")
      return true;
  return false;
}

std::unique_ptr<Task> makeTask(Device &device, const TrainOptions &options, const nlohmann::json &checkpoint) {
  return isRegression(device.model()) ? makeRegressionTask(device, options)
                                      : makeLanguageTask(device, options, checkpoint);
}

} // namespace burin::runtime
