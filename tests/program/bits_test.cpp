// The compiled course model through the C interface: what a token may influence, and which bits threads may change
// (none).
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "burin_runtime.h"
#include "course.h"

namespace {

constexpr int batch = COURSE_BATCH, length = COURSE_LENGTH, vocab = COURSE_VOCAB;

void expectOk(burin_status status) { ASSERT_EQ(status, BURIN_OK) << burin_last_message(); }

// A device with weights drawn from one seed.
struct Device {
  burin_device *handle = nullptr;

  explicit Device(int threads) {
    expectOk(burin_create(&course_model, threads, &handle));
    expectOk(burin_initialize(handle, 7));
  }
  ~Device() { burin_destroy(handle); }
  Device(const Device &) = delete;
  Device &operator=(const Device &) = delete;

  template <typename T> void set(const char *entry, const char *name, const std::vector<T> &values) const {
    expectOk(burin_set_input(handle, entry, name, values.data(), values.size() * sizeof(T)));
  }
  void run(const char *entry) const { expectOk(burin_run(handle, entry)); }
  std::vector<float> output(const char *entry, const char *name, size_t count) const {
    std::vector<float> values(count);
    expectOk(burin_get_output(handle, entry, name, values.data(), count * sizeof(float)));
    return values;
  }
};

std::vector<int32_t> drawnTokens(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int32_t> tokens(count);
  for (int32_t &token : tokens)
    token = static_cast<int32_t>(random() % vocab);
  return tokens;
}

std::vector<int32_t> positions() {
  std::vector<int32_t> values(length);
  for (int i = 0; i < length; ++i)
    values[i] = i;
  return values;
}

std::vector<float> logits(const Device &device, const std::vector<int32_t> &tokens) {
  device.set("logits", "tokens", tokens);
  device.set("logits", "positions", positions());
  device.run("logits");
  return device.output("logits", "logits", size_t{length} * vocab);
}

// Losses, gradients and parameters of three training steps, by name.
std::map<std::string, std::vector<float>> trained(int threads) {
  std::map<std::string, std::vector<float>> result;
  const Device device(threads);
  for (int step = 1; step <= 3; ++step) {
    device.set("step", "tokens", drawnTokens(size_t{batch} * length, step));
    device.set("step", "positions", positions());
    device.set("step", "targets", drawnTokens(size_t{batch} * length, 100 + step));
    device.set("step", "loss_scale", std::vector<float>{1.0f / (batch * length)});
    device.set("step", "accumulate", std::vector<float>{0});
    device.run("step");
    result["loss"].push_back(device.output("step", "loss", 1)[0]);
    for (auto [name, value] : std::map<const char *, float>{{"lr", 1e-3f},
                                                            {"beta1", 0.9f},
                                                            {"beta2", 0.95f},
                                                            {"eps", 1e-8f},
                                                            {"weight_decay", 0.1f},
                                                            {"clip", 1.0f},
                                                            {"correction1", 1 - std::pow(0.9f, step)},
                                                            {"correction2", 1 - std::pow(0.95f, step)}})
      device.set("update", name, std::vector<float>{value});
    device.run("update");
    result["grad_norm"].push_back(device.output("update", "grad_norm", 1)[0]);
  }
  for (int64_t i = 0; i < course_model.num_parameters; ++i) {
    const burin_parameter &parameter = course_model.parameters[i];
    std::vector<float> values(parameter.bytes / sizeof(float));
    expectOk(burin_get_gradient(device.handle, parameter.name, values.data(), values.size()));
    result[std::string("gradient of ") + parameter.name] = values;
    expectOk(burin_get_parameter(device.handle, parameter.name, values.data(), values.size()));
    result[parameter.name] = values;
  }
  return result;
}

// A token reaches its own logits and later ones alone, to the bit.
TEST(CausalityTest, TokensAfterPosition40LeaveEarlierLogitsBitEqual) {
  const Device device(2);
  std::vector<int32_t> tokens = drawnTokens(length, 1);
  const std::vector<float> before = logits(device, tokens);
  const std::vector<int32_t> others = drawnTokens(length, 2);
  std::copy(others.begin() + 41, others.end(), tokens.begin() + 41);
  const std::vector<float> after = logits(device, tokens);
  const auto seen = before.begin() + 41 * vocab;
  EXPECT_TRUE(std::equal(before.begin(), seen, after.begin()));
  EXPECT_FALSE(std::equal(seen, before.end(), after.begin() + 41 * vocab)) << "the change reaches nothing at all";
}

TEST(ThreadsTest, LossesGradientsAndParametersHaveTheSameBitsOn1And2And3ThreadsAndAgain) {
  const auto expected = trained(1);
  EXPECT_TRUE(std::isfinite(expected.at("loss").back()));
  for (int threads : {1, 2, 3})
    for (const auto &[name, values] : trained(threads))
      EXPECT_TRUE(values == expected.at(name)) << name << " on " << threads << " threads";
}

} // namespace
