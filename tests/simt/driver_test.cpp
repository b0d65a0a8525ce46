// The driver's functions: devices, memory, streams, events, graphs, and what it refuses.
#include "driver.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace {

class DriverApi : public Device {
protected:
  // Adds p1 to the words of p0.
  CUfunction adder() {
    return load(module("mul.wide.u32 %rd4, %r0, 4; add.s64 %rd7, %rd0, %rd4; ld.global.b32 %r1, [%rd7]; cvt.u32.u64 "
                       "%r2, %rd1; add.u32 %r1, %r1, %r2; st.global.b32 [%rd7], %r1;"));
  }
  CUresult add(CUfunction kernel, CUdeviceptr to, uint64_t what, CUstream stream) {
    uint64_t arguments[4] = {to, what, 0, 0};
    void *pointers[4] = {&arguments[0], &arguments[1], &arguments[2], &arguments[3]};
    return api().cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, pointers, nullptr);
  }
  CUstream stream(unsigned flags = 1) {
    CUstream result = nullptr;
    EXPECT_EQ(api().cuStreamCreate(&result, flags), CUDA_SUCCESS);
    return result;
  }
  uint32_t *pinned(size_t count) {
    void *result = nullptr;
    EXPECT_EQ(api().cuMemHostAlloc(&result, count * 4, 0), CUDA_SUCCESS);
    return static_cast<uint32_t *>(result);
  }
};

TEST_F(DriverApi, DeviceIsWhatTheEnvironmentSays) {
  close();
  open({{"BURIN_SIMT_ARCH", "90"}, {"BURIN_SIMT_SMS", "7"}, {"BURIN_SIMT_MEMORY", "1M"}});
  int value = 0;
  EXPECT_EQ(api().cuDeviceGetAttribute(&value, ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0), CUDA_SUCCESS);
  EXPECT_EQ(value, 9);
  api().cuDeviceGetAttribute(&value, ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
  EXPECT_EQ(value, 7);
  api().cuDeviceGetAttribute(&value, ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 0);
  EXPECT_EQ(value, 232448);
  size_t total = 0, free = 0;
  EXPECT_EQ(api().cuMemGetInfo_v2(&free, &total), CUDA_SUCCESS);
  EXPECT_EQ(total, 1u << 20);
  char name[64];
  EXPECT_EQ(api().cuDeviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
  EXPECT_STREQ(name, "SIMT emulator sm_90");
  CUdevice device = 0;
  EXPECT_EQ(api().cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(DriverApi, NoDevice) {
  close();
  setenv("BURIN_SIMT_DEVICES", "0", 1);
  EXPECT_EQ(api().cuInit(0), CUDA_ERROR_NO_DEVICE);
  unsetenv("BURIN_SIMT_DEVICES");
  int count = 0;
  EXPECT_EQ(api().cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  open({});
  EXPECT_EQ(api().cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1);
}

TEST_F(DriverApi, MemoryEnds) {
  close();
  open({{"BURIN_SIMT_MEMORY", "1M"}});
  CUdeviceptr a = 0, b = 0;
  EXPECT_EQ(api().cuMemAlloc_v2(&a, 768 << 10), CUDA_SUCCESS);
  EXPECT_EQ(api().cuMemAlloc_v2(&b, 512 << 10), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(api().cuMemAlloc_v2(&b, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(a % 256, 0u);
  EXPECT_EQ(api().cuMemFree_v2(a + 256), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemFree_v2(a), CUDA_SUCCESS);
  EXPECT_EQ(api().cuMemFree_v2(a), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemAlloc_v2(&b, 1 << 20), CUDA_SUCCESS);
}

TEST_F(DriverApi, RefusesMisuse) {
  const CUfunction kernel = load(module("st.shared.b32 [dynamic], %r0;", ".extern .shared .align 16 .b8 dynamic[];"));
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(kernel, 1, 1025, {}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(kernel, 0, 32, {}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(reinterpret_cast<CUfunction>(0x1234), 1, 32, {}), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(kernel, 1, 1, {}, 49153), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuFuncSetAttribute(kernel, FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES, 166913), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuFuncSetAttribute(kernel, FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000), CUDA_SUCCESS);
  EXPECT_EQ(launch(kernel, 1, 1, {}, 100001), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(kernel, 1, 1, {}, 100000), CUDA_SUCCESS);
  EXPECT_EQ(api().cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 4, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  // A buffer of parameters must be as long as they are.
  uint64_t buffer[4] = {};
  size_t size = 24;
  void *extra[] = {reinterpret_cast<void *>(1), buffer, reinterpret_cast<void *>(2), &size, nullptr};
  EXPECT_EQ(api().cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 4, nullptr, nullptr, extra), CUDA_ERROR_INVALID_VALUE);
  size = 32;
  EXPECT_EQ(api().cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 4, nullptr, nullptr, extra), CUDA_SUCCESS);
  EXPECT_EQ(api().cuStreamSynchronize(reinterpret_cast<CUstream>(0x4321)), CUDA_ERROR_INVALID_HANDLE);
  const CUdeviceptr at = allocate(64);
  char text[128] = "";
  EXPECT_EQ(api().cuMemcpyHtoD_v2(at + 1, text, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(api().cuMemcpyDtoH_v2(text, 0x1000, 4), CUDA_ERROR_INVALID_VALUE);
  CUmodule none = nullptr;
  CUfunction function = nullptr;
  EXPECT_EQ(api().cuModuleGetFunction(&function, none, "k"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api().cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(api().cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  testing::internal::GetCapturedStderr();
}

TEST_F(DriverApi, ModulesForOtherMachines) {
  std::string log;
  testing::internal::CaptureStderr();
  EXPECT_EQ(tryLoad(module("", "", "sm_90"), &log), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(log.find("sm_90 does not run on sm_80"), std::string::npos) << log;
  EXPECT_EQ(tryLoad(module("", "", "sm_75"), &log), CUDA_SUCCESS);
  std::string newer = module("");
  newer.replace(newer.find("7.5"), 3, "9.9");
  EXPECT_EQ(tryLoad(newer, &log), CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  testing::internal::GetCapturedStderr();
}

TEST_F(DriverApi, Occupancy) {
  const CUfunction kernel = load(module(""));
  int blocks = 0;
  EXPECT_EQ(api().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 0), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 8);
  EXPECT_EQ(api().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, 40000), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 4); // 167936 bytes over 40000 and a reserved kilobyte
  EXPECT_EQ(api().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 32, 90000), CUDA_SUCCESS);
  EXPECT_EQ(blocks, 0); // not asked for
}

// Work is done when somebody waits, in the order of each stream; no stream waits for another unasked.
TEST_F(DriverApi, StreamsAndEvents) {
  const CUfunction kernel = adder();
  const CUdeviceptr data = upload(std::vector<uint32_t>(32, 1));
  const CUstream one = stream(), two = stream();
  uint32_t *const host = pinned(32);
  host[0] = 99;
  CUevent event = nullptr;
  ASSERT_EQ(api().cuEventCreate(&event, 0), CUDA_SUCCESS);
  ASSERT_EQ(add(kernel, data, 10, one), CUDA_SUCCESS);
  ASSERT_EQ(api().cuEventRecord(event, one), CUDA_SUCCESS);
  ASSERT_EQ(api().cuMemcpyDtoHAsync_v2(host, data, 128, two), CUDA_SUCCESS);
  EXPECT_EQ(host[0], 99u); // not yet
  ASSERT_EQ(api().cuStreamSynchronize(two), CUDA_SUCCESS);
  EXPECT_EQ(host[0], 1u); // nobody told it to wait for the kernel
  ASSERT_EQ(api().cuStreamWaitEvent(two, event, 0), CUDA_SUCCESS);
  ASSERT_EQ(api().cuMemcpyDtoHAsync_v2(host, data, 128, two), CUDA_SUCCESS);
  ASSERT_EQ(api().cuStreamSynchronize(two), CUDA_SUCCESS);
  EXPECT_EQ(host[0], 11u);
  // Blocking streams and the default one wait for each other.
  const CUstream blocking = stream(0);
  ASSERT_EQ(add(kernel, data, 100, blocking), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(data, 1)[0], 111u);
  CUevent last = nullptr;
  float elapsed = -1;
  ASSERT_EQ(api().cuEventCreate(&last, 0), CUDA_SUCCESS);
  ASSERT_EQ(api().cuEventRecord(last, one), CUDA_SUCCESS);
  EXPECT_EQ(api().cuEventElapsedTime(&elapsed, event, last), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(api().cuEventSynchronize(last), CUDA_SUCCESS);
  EXPECT_EQ(api().cuEventElapsedTime(&elapsed, event, last), CUDA_SUCCESS);
  EXPECT_GE(elapsed, 0);
  EXPECT_EQ(api().cuEventDestroy_v2(last), CUDA_SUCCESS);
  EXPECT_EQ(api().cuEventDestroy_v2(last), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(api().cuStreamDestroy_v2(one), CUDA_SUCCESS);
  EXPECT_EQ(api().cuStreamSynchronize(one), CUDA_ERROR_INVALID_HANDLE);
}

// Pinned memory is read when the copy is made, other memory when it is given.
TEST_F(DriverApi, CopiesReadPinnedMemoryLate) {
  const CUdeviceptr data = upload(std::vector<uint32_t>(1, 0));
  const CUstream one = stream();
  uint32_t *const host = pinned(1), plain = 5;
  *host = 5;
  ASSERT_EQ(api().cuMemcpyHtoDAsync_v2(data, host, 4, one), CUDA_SUCCESS);
  *host = 6;
  ASSERT_EQ(api().cuStreamSynchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(data, 1)[0], 6u);
  uint32_t local = plain;
  ASSERT_EQ(api().cuMemcpyHtoDAsync_v2(data, &local, 4, one), CUDA_SUCCESS);
  local = 7;
  ASSERT_EQ(api().cuStreamSynchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(data, 1)[0], 5u);
  ASSERT_EQ(api().cuMemsetD8Async(data, 1, 4, one), CUDA_SUCCESS);
  ASSERT_EQ(api().cuStreamSynchronize(one), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(data, 1)[0], 0x01010101u);
  EXPECT_EQ(api().cuMemFreeHost(host), CUDA_SUCCESS);
  EXPECT_EQ(api().cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverApi, GraphsAreReplayed) {
  const CUfunction kernel = adder();
  const CUdeviceptr data = upload(std::vector<uint32_t>(32, 0));
  const CUstream one = stream(), two = stream();
  uint32_t *const host = pinned(32);
  CUevent forked = nullptr, joined = nullptr;
  ASSERT_EQ(api().cuEventCreate(&forked, 2), CUDA_SUCCESS);
  ASSERT_EQ(api().cuEventCreate(&joined, 2), CUDA_SUCCESS);
  ASSERT_EQ(api().cuStreamBeginCapture_v2(one, 0), CUDA_SUCCESS);
  ASSERT_EQ(api().cuMemcpyHtoDAsync_v2(data, host, 128, one), CUDA_SUCCESS);
  ASSERT_EQ(add(kernel, data, 1, one), CUDA_SUCCESS);
  // Another stream joins, and is joined.
  ASSERT_EQ(api().cuEventRecord(forked, one), CUDA_SUCCESS);
  ASSERT_EQ(api().cuStreamWaitEvent(two, forked, 0), CUDA_SUCCESS);
  ASSERT_EQ(add(kernel, data, 2, two), CUDA_SUCCESS);
  ASSERT_EQ(api().cuEventRecord(joined, two), CUDA_SUCCESS);
  ASSERT_EQ(api().cuStreamWaitEvent(one, joined, 0), CUDA_SUCCESS);
  EXPECT_EQ(api().cuEventSynchronize(joined), CUDA_ERROR_CAPTURED_EVENT);
  CUgraph graph = nullptr;
  ASSERT_EQ(api().cuStreamEndCapture(one, &graph), CUDA_SUCCESS);
  EXPECT_EQ(download<uint32_t>(data, 1)[0], 0u); // captured, not done
  CUgraphExec exec = nullptr;
  ASSERT_EQ(api().cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(api().cuGraphDestroy(graph), CUDA_SUCCESS);
  for (const uint32_t value : {10u, 20u}) {
    host[0] = value;
    ASSERT_EQ(api().cuGraphLaunch(exec, one), CUDA_SUCCESS);
    ASSERT_EQ(api().cuStreamSynchronize(one), CUDA_SUCCESS);
    EXPECT_EQ(download<uint32_t>(data, 1)[0], value + 3);
  }
  EXPECT_EQ(api().cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(api().cuGraphLaunch(exec, one), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverApi, CapturesRefuseWhatTheyCannotHold) {
  const CUfunction kernel = adder();
  const CUdeviceptr data = upload(std::vector<uint32_t>(32, 0));
  const CUstream one = stream(), two = stream();
  CUgraph graph = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(api().cuEventCreate(&event, 2), CUDA_SUCCESS);
  EXPECT_EQ(api().cuStreamEndCapture(one, &graph), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(api().cuStreamBeginCapture_v2(nullptr, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  // Waiting for a stream that is captured.
  ASSERT_EQ(api().cuStreamBeginCapture_v2(one, 0), CUDA_SUCCESS);
  EXPECT_EQ(api().cuStreamSynchronize(one), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(add(kernel, data, 1, one), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(api().cuStreamEndCapture(one, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  // Allocating meanwhile.
  ASSERT_EQ(api().cuStreamBeginCapture_v2(one, 0), CUDA_SUCCESS);
  CUdeviceptr more = 0;
  EXPECT_EQ(api().cuMemAlloc_v2(&more, 16), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(api().cuStreamEndCapture(one, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  ASSERT_EQ(api().cuStreamBeginCapture_v2(one, CAPTURE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(api().cuMemAlloc_v2(&more, 16), CUDA_SUCCESS);
  EXPECT_EQ(api().cuStreamEndCapture(one, &graph), CUDA_SUCCESS);
  // A branch that is not joined.
  ASSERT_EQ(api().cuStreamBeginCapture_v2(one, 0), CUDA_SUCCESS);
  ASSERT_EQ(api().cuEventRecord(event, one), CUDA_SUCCESS);
  ASSERT_EQ(api().cuStreamWaitEvent(two, event, 0), CUDA_SUCCESS);
  ASSERT_EQ(add(kernel, data, 1, two), CUDA_SUCCESS);
  EXPECT_EQ(api().cuStreamEndCapture(one, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(add(kernel, data, 1, two), CUDA_SUCCESS); // an ordinary stream again
  // The default stream beside a captured one that blocks.
  const CUstream blocking = stream(0);
  ASSERT_EQ(api().cuStreamBeginCapture_v2(blocking, 0), CUDA_SUCCESS);
  EXPECT_EQ(add(kernel, data, 1, nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
}

// The compiler's own text, when it is installed: a loop with branches, doubles and bf16 vectors, from LLVM's IR.
TEST_F(DriverApi, RunsWhatTheBackendWrites) {
  if (access(BURIN_LLC, X_OK))
    GTEST_SKIP() << BURIN_LLC << " is not installed";
  char folder[] = "/tmp/simt_XXXXXX";
  ASSERT_TRUE(mkdtemp(folder));
  const std::string source = std::string(folder) + "/k.ll", target = std::string(folder) + "/k.ptx";
  std::ofstream(source) << R"(
target triple = "nvptx64-nvidia-cuda"
@part = internal addrspace(3) global [64 x float] undef, align 4
define ptx_kernel void @k(ptr addrspace(1) %out, ptr addrspace(1) %in, i64 %n, ptr %unused) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = zext i32 %t to i64
  %p = getelementptr <2 x bfloat>, ptr addrspace(1) %in, i64 %i
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %join ]
  %sum = phi float [ 0.0, %entry ], [ %more, %join ]
  %v = load <2 x bfloat>, ptr addrspace(1) %p, align 4
  %w = fpext <2 x bfloat> %v to <2 x float>
  %a = extractelement <2 x float> %w, i32 0
  %b = extractelement <2 x float> %w, i32 1
  %odd = and i64 %k, 1
  %isodd = icmp ne i64 %odd, 0
  br i1 %isodd, label %yes, label %no
yes:
  %q = fdiv float %a, %b
  br label %join
no:
  %d = fpext float %b to double
  %dd = fmul double %d, 0.5
  %h = fptrunc double %dd to float
  br label %join
join:
  %add = phi float [ %q, %yes ], [ %h, %no ]
  %more = fadd float %sum, %add
  %next = add i64 %k, 1
  %again = icmp slt i64 %next, %n
  br i1 %again, label %loop, label %done
done:
  %s = getelementptr float, ptr addrspace(3) @part, i64 %i
  store float %more, ptr addrspace(3) %s
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %x = xor i64 %i, 33
  %o = getelementptr float, ptr addrspace(3) @part, i64 %x
  %r = load float, ptr addrspace(3) %o
  %to = getelementptr float, ptr addrspace(1) %out, i64 %i
  store float %r, ptr addrspace(1) %to
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
)";
  const std::string command = std::string(BURIN_LLC) + " -O3 -mcpu=sm_80 -mattr=+ptx75 " + source + " -o " + target;
  ASSERT_EQ(std::system(command.c_str()), 0);
  std::ifstream file(target);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::remove(source.c_str());
  std::remove(target.c_str());
  rmdir(folder);
  std::vector<uint16_t> in(128);
  for (size_t i = 0; i < in.size(); ++i) { // small whole numbers, exact in bf16
    const float x = float(i % 50 + 1);
    uint32_t bits;
    std::memcpy(&bits, &x, 4);
    in[i] = uint16_t(bits >> 16);
  }
  const CUdeviceptr out = upload(std::vector<float>(64, 0)), data = upload(in);
  ASSERT_EQ(run(load(text), 1, 64, {out, data, 5}), CUDA_SUCCESS) << said << text;
  const auto found = download<float>(out, 64);
  for (size_t i = 0; i < 64; ++i) {
    const float a = float(2 * (i ^ 33) % 50 + 1), b = float((2 * (i ^ 33) + 1) % 50 + 1);
    float sum = 0;
    for (int k = 0; k < 5; ++k)
      sum += k % 2 ? a / b : (float)(b * 0.5);
    EXPECT_EQ(found[i], sum) << i;
  }
}

} // namespace
