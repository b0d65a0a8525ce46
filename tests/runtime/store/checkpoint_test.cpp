// Checkpoints bring back a run, refuse those of other models, and no damage to them crashes the program.
#include "store/checkpoint.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "store/safetensors.h"
#include "support/expect_error.h"
#include "support/program.h"
#include "support/toy_model.h"
#include "train/initialize.h"

namespace burin::runtime {
namespace {

std::string bytesOf(const Device &device, burin_buffer buffer) {
  return {reinterpret_cast<char *>(device.buffer(buffer)), static_cast<size_t>(toy_model.bytes[buffer])};
}

struct CheckpointTest : testing::Test {
  test::Folder folder;
  Device device{toy_model, 1};
  std::string path = folder.file("checkpoint.safetensors");

  CheckpointTest() {
    initialize(device, 1);
    for (int64_t i = 0; i < toy_model.num_parameters; ++i)
      for (int64_t which : {0, 1})
        for (float &moment : device.moment(toy_model.parameters[i], which))
          moment = static_cast<float>(i * 2 + which);
    saveCheckpoint(path, device, {{"step", 3}});
  }

  // The checkpoint's tensors with one changed, added or left out.
  void writeVariant(const std::string &drop, const std::vector<TensorSource> &add) {
    std::vector<TensorSource> tensors;
    SafetensorsReader file(path);
    for (const auto &[name, tensor] : file.tensors())
      if (name != drop)
        tensors.push_back({name, tensor.shape, [](std::span<float>) {}});
    tensors.insert(tensors.end(), add.begin(), add.end());
    writeSafetensors(path, tensors, file.metadata());
  }
};

TEST_F(CheckpointTest, RestoresWeightsMomentsAndTheRun) {
  Device fresh(toy_model, 1);
  Checkpoint loaded = loadCheckpoint(path, fresh, true);
  EXPECT_EQ(loaded.model, "toy");
  EXPECT_EQ(loaded.run.at("step"), 3);
  EXPECT_TRUE(bytesOf(fresh, BURIN_PARAMETERS) == bytesOf(device, BURIN_PARAMETERS));
  EXPECT_TRUE(bytesOf(fresh, BURIN_STATE) == bytesOf(device, BURIN_STATE));
  EXPECT_TRUE(bytesOf(fresh, BURIN_DERIVED) == bytesOf(device, BURIN_DERIVED)) << "prepared";
  EXPECT_EQ(readCheckpointInfo(path).run.at("step"), 3);
}

TEST_F(CheckpointTest, HoldsLogicalShapesByName) {
  SafetensorsReader file(path);
  EXPECT_EQ(file.tensors().size(), 6u);
  EXPECT_EQ(file.tensors().at("moment2.table.weight").shape, (std::vector<int64_t>{128, 128}));
}

TEST_F(CheckpointTest, WrongModelsAreRefused) {
  writeVariant("bias", {});
  EXPECT_ERROR(loadCheckpoint(path, device, true), "no tensor 'bias' [128], which model 'toy' needs");
  writeVariant("", {{"bias", {127}, [](std::span<float>) {}}});
  EXPECT_ERROR(loadCheckpoint(path, device, true), "'bias' is F32 [127], model 'toy' expects F32 [128]");
  writeVariant("bias", {{"bias", {128}, [](std::span<float>) {}}, {"head", {1, 2}, [](std::span<float>) {}}});
  EXPECT_ERROR(loadCheckpoint(path, device, true), "tensor 'head' [1, 2], which model 'toy' does not have");
}

TEST_F(CheckpointTest, ForeignAndNewerFilesAreRefused) {
  SafetensorsReader file(path);
  auto metadata = file.metadata();
  metadata["format_version"] = "2";
  writeSafetensors(path, {}, metadata);
  EXPECT_ERROR(loadCheckpoint(path, device, true), "format version '2', this program reads version 1");
  metadata["format_version"] = "1";
  metadata["run"] = "[]";
  writeSafetensors(path, {}, metadata);
  EXPECT_ERROR(loadCheckpoint(path, device, true), "its description of the run is not a JSON object");
  writeSafetensors(path, {}, {});
  EXPECT_ERROR(loadCheckpoint(path, device, true), "not one that a Burin program wrote");
}

// Whatever is refused leaves the model as it was.
TEST_F(CheckpointTest, TruncationIsNoticedBeforeAnythingIsLoaded) {
  std::string before = bytesOf(device, BURIN_PARAMETERS);
  auto size = std::filesystem::file_size(path);
  for (uint64_t length : {uint64_t{0}, uint64_t{7}, uint64_t{100}, size / 2, size - 1}) {
    std::filesystem::resize_file(path, length);
    EXPECT_ERROR(loadCheckpoint(path, device, true), path);
  }
  EXPECT_TRUE(before == bytesOf(device, BURIN_PARAMETERS));
}

// A flipped bit in the header is refused or harmless; it never crashes, hangs or asks for absurd memory.
TEST_F(CheckpointTest, DamagedHeadersNeverCrash) {
  std::string content = test::readFile(path);
  uint64_t header = 0;
  std::memcpy(&header, content.data(), sizeof header);
  std::mt19937_64 random(1);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = content;
    for (uint64_t flips = 1 + random() % 3; flips; --flips)
      damaged[random() % (8 + header)] ^= static_cast<char>(1 << random() % 8);
    if (round % 4 == 0)
      damaged.resize(random() % damaged.size());
    folder.write("damaged", damaged);
    try {
      loadCheckpoint(folder.file("damaged"), device, true);
    } catch (const Error &error) {
      ++refused;
      EXPECT_EQ(std::string(error.what()).find("internal error"), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(refused, 1000);
}

} // namespace
} // namespace burin::runtime
