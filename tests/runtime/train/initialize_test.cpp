// Initial weights: the same for a seed however they are drawn, and distributed as the table says.
#include "train/initialize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "support/toy_model.h"

namespace burin::runtime {
namespace {

std::vector<float> weights(const burin_model &model, const char *name, uint64_t seed, int threads) {
  Device device(model, threads);
  std::memset(device.buffer(BURIN_STATE), 1, static_cast<size_t>(model.bytes[BURIN_STATE]));
  initialize(device, seed);
  EXPECT_EQ(device.moment(device.parameter(name), 1)[0], 0) << "moments start at zero";
  std::span<float> values = device.weights(device.parameter(name));
  return {values.begin(), values.end()};
}

TEST(Initialize, DependsOnTheSeedAlone) {
  EXPECT_EQ(weights(toy_model, "table.weight", 1, 1), weights(toy_model, "table.weight", 1, 3));
  EXPECT_NE(weights(toy_model, "table.weight", 1, 1), weights(toy_model, "table.weight", 2, 1));
}

// A parameter's draws do not move when another one appears, disappears or changes its place.
TEST(Initialize, ParametersHaveStreamsOfTheirOwn) {
  burin_model model = toy_model;
  model.parameters = toy_model.parameters + 1;
  model.num_parameters = 1;
  EXPECT_EQ(weights(model, "bias", 5, 1), weights(toy_model, "bias", 5, 1));
}

TEST(Initialize, TruncatedNormalHasItsSpreadAndEnds) {
  std::vector<float> values = weights(toy_model, "table.weight", 1, 2); // std 0.5, cut at 3 std
  double sum = 0, squares = 0;
  for (float value : values) {
    EXPECT_LE(std::fabs(value), 1.5f);
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  auto count = static_cast<double>(values.size());
  EXPECT_NEAR(sum / count, 0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / count), 0.5 * 0.9866, 0.01); // 0.9866: what cutting at 3 leaves of the spread
}

TEST(Initialize, UniformAndConstantAndNormal) {
  std::vector<float> values = weights(toy_model, "bias", 1, 1); // 0 +- 0.1
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  EXPECT_LT(*low, -0.08f);
  EXPECT_GE(*low, -0.1f);
  EXPECT_GT(*high, 0.08f);
  EXPECT_LE(*high, 0.1f);

  burin_parameter parameters[] = {toy_model.parameters[0], toy_model.parameters[1]};
  burin_model model = toy_model;
  model.parameters = parameters;
  parameters[1].init = BURIN_INIT_CONSTANT;
  parameters[1].mean = 1;
  for (float value : weights(model, "bias", 1, 1))
    EXPECT_EQ(value, 1);
  parameters[0].init = BURIN_INIT_NORMAL;
  parameters[0].mean = 2;
  values = weights(model, "table.weight", 1, 1);
  EXPECT_GT(*std::max_element(values.begin(), values.end()), 3.5f) << "nothing is cut";
}

// The toy's kernels read a prepared copy of the bias.
TEST(Initialize, PreparesTheModel) {
  Device device(toy_model, 1);
  initialize(device, 1);
  EXPECT_EQ(std::memcmp(device.buffer(BURIN_DERIVED), device.weights(device.parameter("bias")).data(), 512), 0);
}

} // namespace
} // namespace burin::runtime
