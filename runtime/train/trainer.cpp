// The loss scale is 1 / (targets that count in the whole step): accumulated batches add up to exactly the mean.
#include "train/trainer.h"

#include <cmath>
#include <limits>

namespace burin::runtime {

std::string Trainer::firstNonFiniteGradient() const {
  const burin_model &model = device_.model();
  for (int64_t i = 0; i < model.num_parameters; ++i) {
    std::span<const float> gradient = device_.gradient(model.parameters[i]);
    device_.download(gradient);
    for (size_t j = 0; j < gradient.size(); ++j)
      if (!std::isfinite(gradient[j]))
        return fmt::format("the gradient of '{}' is {} at element {}", model.parameters[i].name, gradient[j], j);
  }
  return {};
}

// The mean, in the order of the batches.
double Trainer::loss(Underway &step) {
  for (; !step.losses.empty(); step.losses.pop_front())
    step.loss += device_.answer(step.losses.front());
  return step.loss / static_cast<double>(step.counted);
}

Underway Trainer::gradients(Batches &batches, int64_t accumulate) {
  Underway step;
  step.counted = accumulate * batches.perBatch();
  for (int64_t part = 0; part < accumulate; ++part) {
    batches.next();
    step_.scale = static_cast<float>(1.0 / static_cast<double>(step.counted));
    step_.accumulate = part == 0 ? 0.f : 1.f;
    device_.run(step_.entry);
    step.losses.push_back(device_.ask(step_.loss));
    if (constexpr size_t waiting = 8; step.losses.size() > waiting) {
      step.loss += device_.answer(step.losses.front());
      step.losses.pop_front();
    }
  }
  return step;
}

void Trainer::update(Underway &step, const AdamW &settings, double lr, int64_t number) {
  if (!device_.runsAhead() && !std::isfinite(loss(step)))
    return;
  update_.lr = static_cast<float>(lr);
  update_.beta1 = static_cast<float>(settings.beta1);
  update_.beta2 = static_cast<float>(settings.beta2);
  update_.eps = static_cast<float>(settings.eps);
  update_.weightDecay = static_cast<float>(settings.weightDecay);
  update_.clip = static_cast<float>(settings.clip);
  update_.correction1 = static_cast<float>(correction(settings.beta1, number));
  update_.correction2 = static_cast<float>(correction(settings.beta2, number));
  device_.run(update_.entry);
  step.gradNorm = device_.ask(update_.gradNorm);
}

StepResult Trainer::result(Underway &step, bool last) {
  StepResult result{.loss = loss(step),
                    .gradNorm =
                        step.gradNorm ? device_.answer(*step.gradNorm) : std::numeric_limits<double>::quiet_NaN(),
                    .skipped = {}};
  if (std::isfinite(result.gradNorm))
    return result;
  const std::string gradient = last ? firstNonFiniteGradient() : std::string();
  if (!std::isfinite(result.loss))
    result.skipped = fmt::format("the loss is {}{}{}", result.loss, gradient.empty() ? "" : ", ", gradient);
  else if (!gradient.empty())
    result.skipped = gradient;
  else
    result.skipped =
        fmt::format("{} norm is {}", last ? "the gradients are finite, but their" : "the gradients'", result.gradNorm);
  return result;
}

StepResult Trainer::step(Batches &batches, int64_t accumulate, const AdamW &settings, double lr, int64_t number) {
  Underway step = gradients(batches, accumulate);
  update(step, settings, lr, number);
  return result(step, /*last=*/true);
}

} // namespace burin::runtime
