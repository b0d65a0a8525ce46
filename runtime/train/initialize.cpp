// Draws go by the logical index of an element, so that another layout starts from the same values.
#include "train/initialize.h"

#include <cmath>
#include <string>
#include <vector>

#include "store/layout.h"
#include "train/random.h"

namespace burin::runtime {
namespace {

double draw(const burin_parameter &parameter, const Random &random, uint64_t index) {
  switch (parameter.init) {
  case BURIN_INIT_NORMAL:
    return parameter.mean + parameter.std * random.normal(index);
  case BURIN_INIT_UNIFORM:
    return parameter.mean + parameter.std * (2 * random.uniform(index) - 1);
  case BURIN_INIT_TRUNCATED_NORMAL:
    for (uint64_t attempt = 0;; ++attempt)
      if (double normal = random.normal(index, attempt); std::fabs(normal) <= parameter.cut)
        return parameter.mean + parameter.std * normal;
  default: // BURIN_INIT_CONSTANT; checkModel has refused all others
    return parameter.mean;
  }
}

} // namespace

void initialize(Device &device, uint64_t seed) {
  const burin_model &model = device.model();
  for (int64_t i = 0; i < model.num_parameters; ++i) {
    const burin_parameter &parameter = model.parameters[i];
    const Random random(seed, std::string("parameter ") + parameter.name);
    std::vector<float> logical(logicalSize(parameter));
#pragma omp parallel for num_threads(device.threads())
    for (size_t j = 0; j < logical.size(); ++j)
      logical[j] = static_cast<float>(draw(parameter, random, j));
    toStored(parameter, logical, device.weights(parameter));
    device.upload(device.weights(parameter));
  }
  device.clear(BURIN_STATE);
  device.prepare();
}

} // namespace burin::runtime
