// Files of tensors: what is written is read, what is hostile is refused, what is unfinished leaves the old file.
#include "store/safetensors.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "support/expect_error.h"
#include "support/program.h"

namespace burin::runtime {
namespace {

// A file with this header and that many bytes of data.
std::string assemble(const std::string &header, size_t data) {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<char *>(&length), sizeof length) + header + std::string(data, '\0');
}

TEST(Safetensors, WhatIsWrittenIsRead) {
  test::Folder folder;
  std::string path = folder.file("x.safetensors");
  auto fill = [](std::span<float> values) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i) + 0.5f;
  };
  writeSafetensors(path, {{"b", {2, 3}, fill}, {"a", {}, fill}, {"none", {0, 4}, fill}}, {{"key", "va\"lue\n"}});
  SafetensorsReader file(path);
  EXPECT_EQ(file.metadata().at("key"), "va\"lue\n");
  EXPECT_EQ(file.tensors().at("b").shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(file.tensors().at("a").shape, (std::vector<int64_t>{}));
  EXPECT_EQ(file.tensors().at("none").bytes, 0u);
  std::vector<float> values(6);
  file.read(file.tensors().at("b"), values);
  EXPECT_EQ(values, (std::vector<float>{0.5f, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f}));
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
  EXPECT_EQ((std::filesystem::file_size(path) - 28) % 8, 0u) << "the data starts at a multiple of 8";
}

TEST(Safetensors, FilesOfOtherWritersAreRead) {
  test::Folder folder;
  std::string path = folder.write("x", assemble(R"({"h":{"dtype":"BF16","shape":[3],"data_offsets":[4,10]},)"
                                                R"("w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}   )",
                                                10));
  EXPECT_EQ(SafetensorsReader(path).tensors().at("h").dtype, "BF16");
}

TEST(Safetensors, HostileFilesAreRefused) {
  test::Folder folder;
  auto refuse = [&](const std::string &content, const std::string &message) {
    std::string path = folder.write("x", content);
    EXPECT_ERROR(SafetensorsReader{path}, message);
    EXPECT_ERROR(SafetensorsReader{path}, path);
  };
  auto tensor = [](const std::string &body, size_t data = 4) { return assemble("{\"w\":{" + body + "}}", data); };
  refuse("", "0 bytes long, too short");
  refuse("text", "4 bytes long, too short");
  refuse("this is some other file", "not a safetensors file, or truncated: its header would be");
  refuse(std::string(8, '\xff'), "its header would be 18446744073709551615 bytes");
  refuse(assemble("{", 0), "the header is not valid JSON");
  refuse(assemble("[]", 0), "the header is not a JSON object");
  refuse(assemble(std::string(100'000, '['), 0), "nested too deeply");
  refuse(assemble("{\"\xff\":1}", 0), "not valid JSON");
  refuse(assemble(R"({"__metadata__":{"a":1}})", 0), "not valid JSON");
  refuse(assemble(R"({"w":1})", 0), "tensor 'w': expected exactly dtype, shape and data_offsets");
  refuse(tensor(R"("dtype":"F32","shape":[1])"), "expected exactly");
  refuse(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1)"), "expected exactly");
  refuse(tensor(R"("dtype":"F31","shape":[1],"data_offsets":[0,4])"), "unknown dtype 'F31'");
  refuse(tensor(R"("dtype":7,"shape":[1],"data_offsets":[0,4])"), "dtype is not a string");
  refuse(tensor(R"("dtype":"F32","shape":1,"data_offsets":[0,4])"), "shape is not a list");
  refuse(tensor(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), "a dimension is not a whole number");
  refuse(tensor(R"("dtype":"F32","shape":[1.5],"data_offsets":[0,4])"), "a dimension is not a whole number");
  refuse(tensor(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0])"), "the shape is too large");
  refuse(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0])"), "data_offsets is not a pair");
  refuse(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), "the shape needs 4 bytes");
  refuse(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), "the shape needs 8 bytes");
  refuse(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])", 3),
         "ends at byte 4 of the data, the file holds 3");
  refuse(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])", 5), "end at byte 4 of the data, the file holds 5");
  refuse(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[1,5])", 5), "a gap or an overlap");
  refuse(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[18446744073709551612,18446744073709551615])"),
         "the shape needs 4 bytes");
  refuse(assemble(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                  R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                  12),
         "tensor 'b' starts at byte 4 of the data where 8 is expected (a gap or an overlap)");
  refuse(assemble(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                  R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                  8),
         "'a' appears twice");
  refuse(tensor(R"("dtype":"F32","dtype":"F64","shape":[1],"data_offsets":[0,4])"), "'dtype' appears twice");
}

TEST(Safetensors, WhatIsNoFileIsRefused) {
  test::Folder folder;
  EXPECT_ERROR(SafetensorsReader(folder.file("none")), "No such file or directory");
  EXPECT_ERROR(SafetensorsReader(folder.file("")), "not a regular file");
}

// A write that is not committed leaves the old file and no litter.
TEST(Safetensors, AbandonedWritesLeaveTheOldFile) {
  test::Folder folder;
  std::string path = folder.write("x", "old");
  {
    AtomicFile file(path);
    file.write("new", 3);
    EXPECT_EQ(test::readFile(path), "old");
  }
  EXPECT_EQ(test::readFile(path), "old");
  EXPECT_FALSE(std::filesystem::exists(path + ".tmp"));
  {
    AtomicFile file(path);
    file.write("new", 3);
    file.commit();
  }
  EXPECT_EQ(test::readFile(path), "new");
}

// A link goes on leading to the file; a pipe or device stays what it is.
TEST(Safetensors, OnlyFilesAreReplaced) {
  test::Folder folder;
  std::string path = folder.write("x", "old"), link = folder.file("link"), pipe = folder.file("pipe");
  std::filesystem::create_symlink(path, link);
  AtomicFile file(link);
  file.write("new", 3);
  file.commit();
  EXPECT_EQ(test::readFile(path), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_ERROR(AtomicFile(std::string(pipe)), "cannot write " + pipe + ": it is a device or a pipe");
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

} // namespace
} // namespace burin::runtime
