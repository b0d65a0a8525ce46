// The generated header in C++: its constants are those of the object, and usable where constants are needed.
#include "tiny.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace {

static_assert(TINY_BATCH == 2 && TINY_LENGTH == 8 && TINY_VOCAB == 11);

TEST(Header, ConstantsAreThoseOfTheObject) {
  EXPECT_STREQ(tiny_model.name, "tiny");
  EXPECT_EQ(tiny_model.abi_version, BURIN_ABI_VERSION);
  EXPECT_EQ(tiny_model.struct_size, sizeof(burin_model));
  EXPECT_EQ(tiny_model.parameter_count, TINY_PARAMETERS);
  EXPECT_EQ(tiny_model.vocab, TINY_VOCAB);
  EXPECT_EQ(tiny_model.bytes[BURIN_PARAMETERS], TINY_PARAMETER_BYTES);
  EXPECT_EQ(tiny_model.bytes[BURIN_GRADIENTS], TINY_GRADIENT_BYTES);
  EXPECT_EQ(tiny_model.bytes[BURIN_STATE], TINY_STATE_BYTES);
  EXPECT_EQ(tiny_model.bytes[BURIN_DERIVED], TINY_DERIVED_BYTES);
  EXPECT_EQ(tiny_model.bytes[BURIN_ARENA], TINY_ARENA_BYTES);
  EXPECT_EQ(tiny_model.bytes[BURIN_INPUTS], TINY_INPUT_BYTES);
  EXPECT_EQ(tiny_model.bytes[BURIN_OUTPUTS], TINY_OUTPUT_BYTES);
  EXPECT_EQ(tiny_model.scratch_bytes, TINY_SCRATCH_BYTES);
  EXPECT_EQ(tiny_model.flops_per_step, TINY_FLOPS_PER_STEP);
}

const burin_entry *entry(const std::string &name) {
  for (int64_t i = 0; i < tiny_model.num_entries; ++i)
    if (tiny_model.entries[i].name == name)
      return &tiny_model.entries[i];
  return nullptr;
}

TEST(Object, HoldsTheEntriesThatARuntimeNeeds) {
  for (const char *name : {"step", "loss", "logits", "update", "prepare"})
    EXPECT_TRUE(entry(name)) << name;
  ASSERT_TRUE(entry("step"));
  EXPECT_EQ(entry("step")->batch, TINY_BATCH);
  EXPECT_EQ(entry("logits")->batch, 1);
  EXPECT_EQ(entry("logits")->length, TINY_LENGTH);
}

TEST(Object, BoundsOfIdsFollowFromTheirUse) {
  ASSERT_TRUE(entry("step"));
  std::map<std::string, std::pair<int64_t, int64_t>> bounds;
  for (int64_t i = 0; i < entry("step")->num_inputs; ++i)
    bounds[entry("step")->inputs[i].name] = {entry("step")->inputs[i].lower, entry("step")->inputs[i].upper};
  EXPECT_EQ(bounds["tokens"], std::pair(int64_t(0), int64_t(TINY_VOCAB)));
  EXPECT_EQ(bounds["targets"], std::pair(int64_t(-1), int64_t(TINY_VOCAB)));
  EXPECT_EQ(bounds["loss_scale"], std::pair(int64_t(0), int64_t(0)));
}

TEST(Object, ParametersKeepTheOrderOfDecayAndLieAligned) {
  int64_t count = 0, end = 0;
  bool decayed = true;
  for (int64_t i = 0; i < tiny_model.num_parameters; ++i) {
    const burin_parameter &parameter = tiny_model.parameters[i];
    int64_t elements = 1;
    for (int32_t d = 0; d < parameter.rank; ++d)
      elements *= parameter.shape[d];
    EXPECT_EQ(parameter.bytes, 4 * elements) << parameter.name;
    EXPECT_EQ(parameter.offset % 64, 0) << parameter.name;
    EXPECT_GE(parameter.offset, end) << parameter.name;
    EXPECT_TRUE(decayed || !parameter.decay) << parameter.name;
    decayed = parameter.decay;
    end = parameter.offset + parameter.bytes;
    count += elements;
  }
  EXPECT_EQ(count, TINY_PARAMETERS);
  EXPECT_LE(end, TINY_PARAMETER_BYTES);
}

TEST(Object, LaunchesPointIntoTheirBuffersAndNameTheirPlace) {
  for (int64_t e = 0; e < tiny_model.num_entries; ++e) {
    const burin_entry &where = tiny_model.entries[e];
    double flops = 0;
    for (int64_t i = 0; i < where.num_launches; ++i) {
      const burin_launch &launch = where.launches[i];
      ASSERT_TRUE(launch.kernel) << where.name;
      EXPECT_GT(launch.cells, 0) << launch.kernel_name;
      EXPECT_NE(std::string(launch.op), "") << launch.kernel_name;
      for (int64_t a = 0; a + 1 < launch.num_args; a += 2) {
        ASSERT_GE(launch.args[a], 0);
        ASSERT_LT(launch.args[a], int64_t(BURIN_NUM_BUFFERS));
        EXPECT_LT(launch.args[a + 1], where.bytes[launch.args[a]]) << launch.kernel_name;
      }
      flops += launch.flops;
    }
    EXPECT_EQ(flops, where.flops) << where.name;
  }
  ASSERT_TRUE(entry("step"));
  bool inModel = false;
  for (int64_t i = 0; i < entry("step")->num_launches; ++i)
    inModel |= std::string(entry("step")->launches[i].place).find("tiny.cpp:") != std::string::npos;
  EXPECT_TRUE(inModel) << "no launch names a line of the model";
}

} // namespace
