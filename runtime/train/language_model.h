// The entries of a model with their arguments looked up once: those that every model has, and those of a language
// model. A missing one is an error that names it.
#pragma once
#include <cstdint>
#include <span>

#include "device/device.h"

namespace burin::runtime {

// What any model's entry "step" has: the loss, summed over what counts, and the gradients of the loss times `scale`;
// they replace the old ones or, when `accumulate` is 1, are added to them.
struct GradientEntry {
  explicit GradientEntry(const Device &device);
  const burin_entry &entry;
  float &scale, &accumulate;
  const float &loss;
};

// What dropout asks for, rows i32[B] and dropout_key i32; empty for a model without dropout. A key of 0 turns it off.
struct DropoutInputs {
  DropoutInputs(const Device &device, const burin_entry &entry, int64_t batch);
  void off() const;
  std::span<int32_t> rows, key;
};

// tokens i32[B, T], positions i32[T], targets i32[B, T] (-1: does not count) -> loss f32, the sum over what counts.
// Where the model asks for it also valid i32[B, T] (0: padding), else that is empty.
struct LossEntry {
  LossEntry(const Device &device, const char *name = "loss");
  const burin_entry &entry;
  std::span<int32_t> tokens, positions, targets, valid;
  DropoutInputs dropout;
  const float &loss;
};

// The two together.
struct StepEntry : LossEntry {
  explicit StepEntry(const Device &device);
  float &scale, &accumulate;
};

// tokens i32[1, T], positions i32[T], valid as above -> logits f32[1, T, V].
struct LogitsEntry {
  explicit LogitsEntry(const Device &device);
  const burin_entry &entry;
  std::span<int32_t> tokens, positions, valid;
  DropoutInputs dropout;
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
