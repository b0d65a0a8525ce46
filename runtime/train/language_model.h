// The entries of a language model with their arguments looked up once. A missing one is an error that names it.
#pragma once
#include <cstdint>
#include <span>

#include "device/device.h"

namespace burin::runtime {

// tokens i32[B, T], positions i32[T], targets i32[B, T] (-1: does not count) -> loss f32, the sum over what counts.
struct LossEntry {
  LossEntry(const Device &device, const char *name = "loss");
  const burin_entry &entry;
  std::span<int32_t> tokens, positions, targets;
  const float &loss;
};

// As LossEntry, and the gradients of the loss times `scale`; they replace the old ones or, when `accumulate` is 1, are
// added to them.
struct StepEntry : LossEntry {
  explicit StepEntry(const Device &device);
  float &scale, &accumulate;
};

// tokens i32[1, T], positions i32[T] -> logits f32[1, T, V].
struct LogitsEntry {
  explicit LogitsEntry(const Device &device);
  const burin_entry &entry;
  std::span<int32_t> tokens, positions;
  std::span<const float> logits;
};

// One AdamW update of all parameters from their gradients -> grad_norm, the norm before clipping.
struct UpdateEntry {
  explicit UpdateEntry(const Device &device);
  const burin_entry &entry;
  float &lr, &beta1, &beta2, &eps, &weightDecay, &clip, &correction1, &correction2;
  const float &gradNorm;
};

} // namespace burin::runtime
