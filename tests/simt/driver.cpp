#include "driver.h"
#include <cstdlib>
#include <dlfcn.h>

const Api &api() {
  static const Api found = [] {
    Api result;
    void *const library = dlopen(BURIN_SIMT, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::exit(2);
    }
    const auto find = [&](const char *name) {
      void *const function = dlsym(library, name);
      if (!function) {
        std::fprintf(stderr, "%s is not in %s\n", name, BURIN_SIMT);
        std::exit(2);
      }
      return function;
    };
#define SIMT_TEST_FUNCTION(name, ...) result.name = reinterpret_cast<CUresult (*)(__VA_ARGS__)>(find(#name));
#include "functions.inc"
#undef SIMT_TEST_FUNCTION
    return result;
  }();
  return found;
}

std::string nameOf(CUresult result) {
  const char *name = nullptr;
  api().cuGetErrorName(result, &name);
  return name ? name : std::to_string(result);
}

void Device::open(const std::map<std::string, std::string> &environment) {
  for (const auto &[name, value] : environment) {
    const char *const before = std::getenv(name.c_str());
    restore.emplace(name, before ? before : "");
    setenv(name.c_str(), value.c_str(), 1);
  }
  ASSERT_EQ(api().cuInit(0), CUDA_SUCCESS);
  CUcontext context = nullptr;
  ASSERT_EQ(api().cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(api().cuCtxSetCurrent(context), CUDA_SUCCESS);
}

void Device::close() {
  api().cuDevicePrimaryCtxRelease_v2(0);
  for (const auto &[name, value] : restore)
    value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
  restore.clear();
}

CUresult Device::tryLoad(const std::string &text, std::string *log) {
  char buffer[512] = "";
  int options[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {buffer, reinterpret_cast<void *>(sizeof buffer)};
  CUmodule module = nullptr;
  const CUresult result = api().cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
  if (log)
    *log = buffer;
  return result;
}

CUfunction Device::load(const std::string &text, const char *name) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_EQ(api().cuModuleLoadDataEx(&module, text.c_str(), 0, nullptr, nullptr), CUDA_SUCCESS) << text;
  if (module) {
    EXPECT_EQ(api().cuModuleGetFunction(&function, module, name), CUDA_SUCCESS);
  }
  return function;
}

CUdeviceptr Device::allocate(size_t bytes) {
  CUdeviceptr at = 0;
  EXPECT_EQ(api().cuMemAlloc_v2(&at, bytes), CUDA_SUCCESS);
  return at;
}

CUresult Device::launch(CUfunction function, unsigned blocks, unsigned threads, std::vector<uint64_t> arguments,
                        unsigned shared) {
  arguments.resize(4);
  void *pointers[4];
  for (int i = 0; i < 4; ++i)
    pointers[i] = &arguments[i];
  return api().cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared, nullptr, pointers, nullptr);
}

CUresult Device::run(CUfunction function, unsigned blocks, unsigned threads, const std::vector<uint64_t> &arguments,
                     unsigned shared) {
  testing::internal::CaptureStderr();
  CUresult result = launch(function, blocks, threads, arguments, shared);
  if (!result)
    result = api().cuCtxSynchronize();
  said = testing::internal::GetCapturedStderr();
  return result;
}

std::string module(const std::string &body, const std::string &variables, const std::string &target) {
  return ".version 7.5\n.target " + target + "\n.address_size 64\n" + variables +
         "\n.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3) {\n"
         ".reg .pred %p<16>; .reg .b16 %rs<32>; .reg .b32 %r<64>; .reg .b64 %rd<32>;\n"
         "ld.param.b64 %rd0, [p0]; ld.param.b64 %rd1, [p1]; ld.param.b64 %rd2, [p2]; ld.param.b64 %rd3, [p3];\n"
         "mov.u32 %r0, %tid.x;\n" +
         body + "\nret;\n}\n";
}
