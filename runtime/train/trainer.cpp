// The loss scale is 1 / (targets that count in the whole step): accumulated batches add up to exactly the mean.
#include "train/trainer.h"

#include <cmath>
#include <limits>

namespace burin::runtime {

std::string Trainer::firstNonFiniteGradient() const {
  const burin_model &model = device_.model();
  for (int64_t i = 0; i < model.num_parameters; ++i) {
    std::span<const float> gradient = device_.gradient(model.parameters[i]);
    for (size_t j = 0; j < gradient.size(); ++j)
      if (!std::isfinite(gradient[j]))
        return fmt::format("the gradient of '{}' is {} at element {}", model.parameters[i].name, gradient[j], j);
  }
  return {};
}

StepResult Trainer::step(Batches &batches, int64_t accumulate, const AdamW &settings, double lr, int64_t update) {
  int64_t counted = accumulate * batches.perBatch();
  double loss = 0;
  for (int64_t part = 0; part < accumulate; ++part) {
    batches.next();
    step_.scale = static_cast<float>(1.0 / static_cast<double>(counted));
    step_.accumulate = part == 0 ? 0.f : 1.f;
    device_.run(step_.entry);
    loss += step_.loss;
  }
  StepResult result{
      .loss = loss / static_cast<double>(counted), .gradNorm = std::numeric_limits<double>::quiet_NaN(), .skipped = {}};
  if (!std::isfinite(result.loss)) {
    result.skipped = fmt::format("the loss is {}", result.loss);
    if (std::string gradient = firstNonFiniteGradient(); !gradient.empty())
      result.skipped += ", " + gradient;
    return result;
  }

  update_.lr = static_cast<float>(lr);
  update_.beta1 = static_cast<float>(settings.beta1);
  update_.beta2 = static_cast<float>(settings.beta2);
  update_.eps = static_cast<float>(settings.eps);
  update_.weightDecay = static_cast<float>(settings.weightDecay);
  update_.clip = static_cast<float>(settings.clip);
  update_.correction1 = static_cast<float>(correction(settings.beta1, update));
  update_.correction2 = static_cast<float>(correction(settings.beta2, update));
  device_.run(update_.entry);
  result.gradNorm = update_.gradNorm;
  if (!std::isfinite(result.gradNorm)) {
    result.skipped = firstNonFiniteGradient();
    if (result.skipped.empty())
      result.skipped = fmt::format("the gradients are finite, but their norm is {}", result.gradNorm);
  }
  return result;
}

} // namespace burin::runtime
