// AdamW: the numbers that the entry `update` takes, and the same arithmetic in plain C++ as the reference it is held
// against. The reference is not used in training.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace burin::runtime {

struct AdamW {
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weightDecay = 0.1;
  double clip = 1; // greatest norm of all gradients together
};

// 1 - beta^t of the t-th update, counted from 1: undoes the pull of the moments towards their start at zero.
double correction(double beta, int64_t update);

// The l2 norm of all gradients together, summed in double.
double gradientNorm(std::span<const std::span<const float>> gradients);

// The factor for gradients of that norm: 1, or clip / (norm + 1e-6) when the norm is above the clip.
double clipFactor(double norm, double clip);

// p -= lr * decay * p;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;
// p -= lr * (m / correction1) / (sqrt(v / correction2) + eps), with g = factor * gradient. Weight decay only when
// `decay`.
void referenceAdamW(std::span<float> parameter, std::span<const float> gradient, std::span<float> moment1,
                    std::span<float> moment2, bool decay, double factor, double lr, const AdamW &settings,
                    int64_t update);

} // namespace burin::runtime
