// The optimizer, schedule, clipping and batch cases of a public course's test pack, which is read where it lies.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cs336/pack.h"
#include "data/loader.h"
#include "data/text_file.h"
#include "train/adamw.h"
#include "train/schedule.h"

namespace burin::runtime {
namespace {

using nlohmann::json;

struct Case {
  std::filesystem::path folder;
  json description;

  // The values of an f32 .npy file named in the case.
  std::vector<float> read(const char *group, const std::string &name) const {
    std::string content = test::readFile(folder / description[group][name]["file"].get<std::string>());
    uint16_t header = 0; // version 1: six bytes of magic, two of version, the header's length
    std::memcpy(&header, content.data() + 8, sizeof header);
    std::vector<float> values((content.size() - 10 - header) / sizeof(float));
    std::memcpy(values.data(), content.data() + 10 + header, values.size() * sizeof(float));
    return values;
  }

  void expectNear(std::span<const float> actual, const std::string &name) const {
    std::vector<float> expected = read("expected", name);
    ASSERT_EQ(actual.size(), expected.size());
    double atol = description["atol"], rtol = description["rtol"];
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i], atol + rtol * std::abs(expected[i])) << name << ", element " << i;
  }
};

using Cs336 = test::PackTest<Case>;

TEST_F(Cs336, LearningRate) {
  find("lr_cosine");
  for (const Case &each : cases)
    for (const json &set : each.description["sets"])
      for (size_t i = 0; i < set["its"].size(); ++i) {
        double expected = set["expected"][i];
        EXPECT_NEAR(cosineRate(set["its"][i], set["max_learning_rate"], set["min_learning_rate"], set["warmup_iters"],
                               set["cosine_cycle_iters"]),
                    expected, 1e-7 * expected)
            << "step " << set["its"][i];
      }
}

TEST_F(Cs336, GradientClipping) {
  find("gradient_clipping");
  for (const Case &each : cases) {
    std::vector<std::vector<float>> gradients;
    std::vector<std::string> names;
    for (const auto &[name, input] : each.description["inputs"].items()) {
      gradients.push_back(each.read("inputs", name));
      names.push_back(name);
    }
    std::vector<std::span<const float>> views(gradients.begin(), gradients.end());
    double factor = clipFactor(gradientNorm(views), each.description["params"]["max_l2_norm"]);
    for (size_t i = 0; i < gradients.size(); ++i) {
      for (float &value : gradients[i])
        value = static_cast<float>(factor * value);
      each.expectNear(gradients[i], names[i]);
    }
  }
}

TEST_F(Cs336, AdamW) {
  find("adamw_training");
  for (const Case &each : cases) {
    const json &params = each.description["params"];
    AdamW settings{.beta1 = params["betas"][0],
                   .beta2 = params["betas"][1],
                   .eps = params["eps"],
                   .weightDecay = params["weight_decay"]};
    std::vector<float> w = each.read("inputs", "w0"), xs = each.read("inputs", "xs"), m(w.size()), v(w.size());
    int64_t steps = params["steps"];
    for (int64_t step = 1; step <= steps; ++step) {
      // loss = sum((y - w x)^2) with y = (x0 + x1, -x2)
      const float *x = &xs[static_cast<size_t>(step - 1) * 3];
      const float y[] = {x[0] + x[1], -x[2]};
      std::vector<float> gradient(6);
      for (size_t i = 0; i < 2; ++i) {
        float error = y[i] - (w[i * 3] * x[0] + w[i * 3 + 1] * x[1] + w[i * 3 + 2] * x[2]);
        for (size_t j = 0; j < 3; ++j)
          gradient[i * 3 + j] = -2 * error * x[j];
      }
      referenceAdamW(w, gradient, m, v, true, 1, params["lr"], settings, step);
      std::string name = "after_step" + std::to_string(step);
      if (each.description["expected"].contains(name))
        each.expectNear(w, name);
    }
    each.expectNear(w, "final_pytorch");
    each.expectNear(w, "final_decay_before");
    each.expectNear(m, "m_final");
    each.expectNear(v, "v_final");
  }
}

TEST_F(Cs336, GetBatch) {
  find("get_batch");
  for (const Case &each : cases) {
    const json &params = each.description["params"];
    std::string content;
    for (int i = 0; i < 100; ++i)
      content += static_cast<char>(i);
    test::Folder folder;
    TextFile text(folder.write("text", content), 256);
    size_t length = params["context_length"], batch = params["batch_size"];
    RandomWindows windows(text, {0, 100}, static_cast<int64_t>(length), 1);
    std::vector<int> starts(100);
    for (int64_t draw = 0, draws = params["num_iters"]; draw < draws; ++draw) {
      std::vector<int32_t> x(batch * length), y(batch * length);
      windows.next(x, y);
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(y[i], x[i] + 1);
      for (size_t row = 0; row < batch; ++row)
        ++starts[static_cast<size_t>(x[row * length])];
    }
    size_t positions = params["num_start_positions"];
    for (size_t start = 0; start < 100; ++start) {
      EXPECT_GE(starts[start], start < positions ? params["count_lower_bound"].get<double>() : 0);
      EXPECT_LE(starts[start], start < positions ? params["count_upper_bound"].get<double>() : 0);
    }
  }
}

} // namespace
} // namespace burin::runtime
