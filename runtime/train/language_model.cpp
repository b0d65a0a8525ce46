// Names are compared here and nowhere else; what the tables say must also fit together, since loops rely on it.
#include "train/language_model.h"

#include <algorithm>
#include <string_view>

namespace burin::runtime {
namespace {

float &scalar(const Device &device, const burin_tensor &tensor) {
  std::span<float> values = device.values<float>(tensor);
  if (values.size() != 1)
    fail("'{}' of model '{}' has {} elements where one number is expected", tensor.name, device.model().name,
         values.size());
  return values[0];
}

std::span<int32_t> ids(const Device &device, const burin_entry &entry, const char *name, int64_t count) {
  std::span<int32_t> values = device.values<int32_t>(device.input(entry, name));
  if (static_cast<int64_t>(values.size()) != count || count < 1)
    fail("'{}' of entry '{}' has {} elements where {} are expected", name, entry.name, values.size(), count);
  return values;
}

bool hasInput(const burin_entry &entry, std::string_view name) {
  return std::any_of(entry.inputs, entry.inputs + entry.num_inputs,
                     [&](const burin_tensor &tensor) { return tensor.name == name; });
}

// Empty where the model does not ask for them.
std::span<int32_t> idsIfAny(const Device &device, const burin_entry &entry, const char *name, int64_t count) {
  return hasInput(entry, name) ? ids(device, entry, name, count) : std::span<int32_t>();
}

float &input(const Device &device, const burin_entry &entry, const char *name) {
  return scalar(device, device.input(entry, name));
}

} // namespace

GradientEntry::GradientEntry(const Device &device)
    : entry(device.entry("step")), scale(input(device, entry, "loss_scale")),
      accumulate(input(device, entry, "accumulate")), loss(scalar(device, device.output(entry, "loss"))) {}

DropoutInputs::DropoutInputs(const Device &device, const burin_entry &entry, int64_t batch)
    : rows(idsIfAny(device, entry, "rows", batch)), key(idsIfAny(device, entry, "dropout_key", 1)) {}

void DropoutInputs::off() const {
  std::fill(key.begin(), key.end(), 0);
  std::fill(rows.begin(), rows.end(), 0);
}

LossEntry::LossEntry(const Device &device, const char *name)
    : entry(device.entry(name)), tokens(ids(device, entry, "tokens", entry.batch * entry.length)),
      positions(ids(device, entry, "positions", entry.length)),
      targets(ids(device, entry, "targets", entry.batch * entry.length)),
      valid(idsIfAny(device, entry, "valid", entry.batch * entry.length)), dropout(device, entry, entry.batch),
      loss(scalar(device, device.output(entry, "loss"))) {}

StepEntry::StepEntry(const Device &device)
    : LossEntry(device, "step"), scale(input(device, entry, "loss_scale")),
      accumulate(input(device, entry, "accumulate")) {}

LogitsEntry::LogitsEntry(const Device &device)
    : entry(device.entry("logits")), tokens(ids(device, entry, "tokens", entry.length)),
      positions(ids(device, entry, "positions", entry.length)), valid(idsIfAny(device, entry, "valid", entry.length)),
      dropout(device, entry, 1), logits(device.values<float>(device.output(entry, "logits"))) {
  if (static_cast<int64_t>(logits.size()) != entry.length * device.model().vocab)
    fail("the logits of model '{}' have {} elements where {} x {} are expected", device.model().name, logits.size(),
         entry.length, device.model().vocab);
}

UpdateEntry::UpdateEntry(const Device &device)
    : entry(device.entry("update")), lr(input(device, entry, "lr")), beta1(input(device, entry, "beta1")),
      beta2(input(device, entry, "beta2")), eps(input(device, entry, "eps")),
      weightDecay(input(device, entry, "weight_decay")), clip(input(device, entry, "clip")),
      correction1(input(device, entry, "correction1")), correction2(input(device, entry, "correction2")),
      gradNorm(scalar(device, device.output(entry, "grad_norm"))) {}

} // namespace burin::runtime
