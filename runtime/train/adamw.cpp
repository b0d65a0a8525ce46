// Written the plain way on purpose: one element at a time, in double, rounded once.
#include "train/adamw.h"

#include <cmath>

namespace burin::runtime {

double correction(double beta, int64_t update) { return 1 - std::pow(beta, static_cast<double>(update)); }

double gradientNorm(std::span<const std::span<const float>> gradients) {
  double sum = 0;
  for (std::span<const float> gradient : gradients)
    for (float value : gradient)
      sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

double clipFactor(double norm, double clip) { return norm > clip ? clip / (norm + 1e-6) : 1; }

void referenceAdamW(std::span<float> parameter, std::span<const float> gradient, std::span<float> moment1,
                    std::span<float> moment2, bool decay, double factor, double lr, const AdamW &settings,
                    int64_t update) {
  double correction1 = correction(settings.beta1, update), correction2 = correction(settings.beta2, update);
  for (size_t i = 0; i < parameter.size(); ++i) {
    double p = parameter[i], g = factor * gradient[i];
    double m = settings.beta1 * moment1[i] + (1 - settings.beta1) * g;
    double v = settings.beta2 * moment2[i] + (1 - settings.beta2) * g * g;
    if (decay)
      p -= lr * settings.weightDecay * p;
    p -= lr * (m / correction1) / (std::sqrt(v / correction2) + settings.eps);
    parameter[i] = static_cast<float>(p);
    moment1[i] = static_cast<float>(m);
    moment2[i] = static_cast<float>(v);
  }
}

} // namespace burin::runtime
