// The emulated driver as a test uses it: loaded like the real one, and a device that is fresh for each test.
#pragma once
#include "../support/simt/driver/types.h"
#include <gtest/gtest.h>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

// The functions, found by name as a program would.
struct Api {
#define SIMT_TEST_FUNCTION(name, ...) CUresult (*name)(__VA_ARGS__);
#include "functions.inc"
#undef SIMT_TEST_FUNCTION
};
const Api &api();

std::string nameOf(CUresult);

// A context of its own, with the environment it is given.
class Device : public ::testing::Test {
protected:
  void SetUp() override { open({}); }
  void TearDown() override { close(); }

  void open(const std::map<std::string, std::string> &environment);
  void close();

  // Loads a module and returns its kernel `k`; whole modules, or a body with the parameters of the common form below.
  CUfunction load(const std::string &text, const char *name = "k");
  CUresult tryLoad(const std::string &text, std::string *log);

  CUdeviceptr allocate(size_t bytes);
  template <class T> CUdeviceptr upload(const std::vector<T> &values) {
    const CUdeviceptr at = allocate(values.size() * sizeof(T));
    EXPECT_EQ(api().cuMemcpyHtoD_v2(at, values.data(), values.size() * sizeof(T)), CUDA_SUCCESS);
    return at;
  }
  template <class T> std::vector<T> download(CUdeviceptr at, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(api().cuMemcpyDtoH_v2(values.data(), at, count * sizeof(T)), CUDA_SUCCESS);
    return values;
  }

  CUresult launch(CUfunction, unsigned blocks, unsigned threads, std::vector<uint64_t> arguments, unsigned shared = 0);
  // Runs and waits; what was said on stderr is in `said`.
  CUresult run(CUfunction, unsigned blocks, unsigned threads, const std::vector<uint64_t> &arguments,
               unsigned shared = 0);
  std::string said;

private:
  std::map<std::string, std::string> restore;
};

// A module with one kernel `k` of up to four parameters of 64 bits, p0 to p3, which %rd0 to %rd3 hold; %r0 is %tid.x.
std::string module(const std::string &body, const std::string &variables = "", const std::string &target = "sm_80");
