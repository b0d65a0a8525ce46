// NVIDIA's driver library, looked for when the program needs it: a program with GPU code starts, and tells of itself,
// on any machine. The declarations are our own, after the public description of the driver's C interface.
//
//   const cuda::Driver &driver = cuda::Driver::get();
//   driver.check(driver.cuMemAlloc_v2(&address, bytes), "allocating {} bytes", bytes);
#pragma once
#include <cstddef>
#include <string>

#include "error.h"

namespace burin::runtime::cuda {

using Result = int; // 0 for success
using DeviceIndex = int;
using Address = unsigned long long; // in the GPU's memory
using Context = struct ContextObject *;
using Module = struct ModuleObject *;
using Function = struct FunctionObject *;
using Stream = struct StreamObject *;
using Event = struct EventObject *;
using Graph = struct GraphObject *;
using GraphExec = struct GraphExecObject *;

// Values of the interface's enumerations, as far as they are used.
enum : Result { outOfMemory = 2, noDevice = 100 };
enum DeviceAttribute : int {
  clockKilohertz = 13,
  multiprocessors = 16,
  capabilityMajor = 75,
  capabilityMinor = 76,
  sharedBytesOptIn = 97
};
enum FunctionAttribute : int { functionThreads = 0, functionSharedBytes = 1, functionDynamicSharedBytes = 8 };
enum JitOption : int { jitErrorLog = 5, jitErrorLogBytes = 6 };
enum : unsigned { nonBlockingStream = 1, eventWithoutTiming = 2 };
enum CaptureMode : int { captureThisThread = 1 };

// Each by the name it is exported under.
#define BURIN_CUDA_FUNCTIONS(X)                                                                                        \
  X(cuInit, (unsigned flags))                                                                                          \
  X(cuDriverGetVersion, (int *version))                                                                                \
  X(cuGetErrorName, (Result result, const char **text))                                                                \
  X(cuGetErrorString, (Result result, const char **text))                                                              \
  X(cuDeviceGetCount, (int *count))                                                                                    \
  X(cuDeviceGet, (DeviceIndex * device, int ordinal))                                                                  \
  X(cuDeviceGetName, (char *name, int bytes, DeviceIndex device))                                                      \
  X(cuDeviceTotalMem_v2, (size_t * bytes, DeviceIndex device))                                                         \
  X(cuDeviceGetAttribute, (int *value, DeviceAttribute attribute, DeviceIndex device))                                 \
  X(cuDevicePrimaryCtxRetain, (Context * context, DeviceIndex device))                                                 \
  X(cuDevicePrimaryCtxRelease_v2, (DeviceIndex device))                                                                \
  X(cuCtxSetCurrent, (Context context))                                                                                \
  X(cuMemGetInfo_v2, (size_t * free, size_t * total))                                                                  \
  X(cuMemAlloc_v2, (Address * address, size_t bytes))                                                                  \
  X(cuMemFree_v2, (Address address))                                                                                   \
  X(cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags))                                                     \
  X(cuMemFreeHost, (void *memory))                                                                                     \
  X(cuMemsetD8Async, (Address to, unsigned char value, size_t bytes, Stream stream))                                   \
  X(cuMemcpyHtoDAsync_v2, (Address to, const void *from, size_t bytes, Stream stream))                                 \
  X(cuMemcpyDtoHAsync_v2, (void *to, Address from, size_t bytes, Stream stream))                                       \
  X(cuStreamCreate, (Stream * stream, unsigned flags))                                                                 \
  X(cuStreamDestroy_v2, (Stream stream))                                                                               \
  X(cuStreamSynchronize, (Stream stream))                                                                              \
  X(cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                                                   \
  X(cuStreamBeginCapture_v2, (Stream stream, CaptureMode mode))                                                        \
  X(cuStreamEndCapture, (Stream stream, Graph * graph))                                                                \
  X(cuGraphInstantiateWithFlags, (GraphExec * exec, Graph graph, unsigned long long flags))                            \
  X(cuGraphLaunch, (GraphExec exec, Stream stream))                                                                    \
  X(cuGraphDestroy, (Graph graph))                                                                                     \
  X(cuGraphExecDestroy, (GraphExec exec))                                                                              \
  X(cuEventCreate, (Event * event, unsigned flags))                                                                    \
  X(cuEventRecord, (Event event, Stream stream))                                                                       \
  X(cuEventSynchronize, (Event event))                                                                                 \
  X(cuEventElapsedTime, (float *milliseconds, Event from, Event to))                                                   \
  X(cuEventDestroy_v2, (Event event))                                                                                  \
  X(cuModuleLoadDataEx,                                                                                                \
    (Module * module, const void *text, unsigned numOptions, JitOption *options, void **optionValues))                 \
  X(cuModuleUnload, (Module module))                                                                                   \
  X(cuModuleGetFunction, (Function * function, Module module, const char *name))                                       \
  X(cuFuncGetAttribute, (int *value, FunctionAttribute attribute, Function function))                                  \
  X(cuFuncSetAttribute, (Function function, FunctionAttribute attribute, int value))                                   \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, Function function, int threads, size_t sharedBytes))    \
  X(cuLaunchKernel,                                                                                                    \
    (Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,              \
     unsigned blockZ, unsigned sharedBytes, Stream stream, void **parameters, void **extra))

class Driver {
public:
  // Loads the library the first time: BURIN_CUDA_DRIVER names it, else it is libcuda.so.1. Throws NoDevice where there
  // is none, or one that lacks a function.
  static const Driver &get();

#define BURIN_CUDA_MEMBER(name, arguments) Result(*name) arguments = nullptr;
  BURIN_CUDA_FUNCTIONS(BURIN_CUDA_MEMBER)
#undef BURIN_CUDA_MEMBER

  // "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)"
  std::string describe(Result result) const;

  // Throws what the driver says of a call that failed, after what was being done.
  template <typename... Args> void check(Result result, fmt::format_string<Args...> doing, Args &&...args) const {
    if (result != 0)
      fail("the GPU's driver failed while {}: {}", fmt::format(doing, std::forward<Args>(args)...), describe(result));
  }

private:
  Driver();
};

} // namespace burin::runtime::cuda
