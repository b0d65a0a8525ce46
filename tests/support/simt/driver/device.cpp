// Settings, devices, contexts, names of errors.
#include "state.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace simt {

Driver &driver() {
  static Driver instance;
  return instance;
}
thread_local Context *currentContext = nullptr;

void complain(const std::string &text) {
  std::fprintf(stderr, "simt: %s\n", text.c_str());
  std::fflush(stderr);
}

static uint64_t number(const char *name, uint64_t otherwise, uint64_t least, uint64_t most) {
  const char *const text = std::getenv(name);
  if (!text || !*text)
    return otherwise;
  char *end = nullptr;
  uint64_t value = std::strtoull(text, &end, 10);
  const int unit = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
  if (unit) {
    value <<= unit;
    ++end;
  }
  if (*end || value < least || value > most) {
    complain(std::string(name) + " is '" + text + "', expected a number from " + std::to_string(least) + " to " +
             std::to_string(most));
    std::exit(2);
  }
  return value;
}

Settings Settings::read() {
  Settings result;
  result.devices = (int)number("BURIN_SIMT_DEVICES", 1, 0, 1);
  result.arch = (int)number("BURIN_SIMT_ARCH", 80, 70, 199);
  result.multiprocessors = (int)number("BURIN_SIMT_SMS", 4, 1, 1024);
  result.threads = (int)number("BURIN_SIMT_THREADS", std::max(1u, std::thread::hardware_concurrency()), 1, 1024);
  result.memory = number("BURIN_SIMT_MEMORY", uint64_t(4) << 30, 1 << 16, uint64_t(1) << 38);
  if (const char *const check = std::getenv("BURIN_SIMT_CHECK"); check && *check) {
    if (std::string(check) != "global") {
      complain("BURIN_SIMT_CHECK is '" + std::string(check) + "', expected 'global'");
      std::exit(2);
    }
    result.checkGlobal = true;
  }
  result.profile = number("BURIN_SIMT_PROFILE", 0, 0, 1);
  return result;
}

CUresult enter(Context *&context) {
  if (!driver().initialised)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (!currentContext)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (currentContext != driver().context.get())
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  context = currentContext;
  return context->error;
}

static void report(const Context &context) {
  if (!driver().settings.profile)
    return;
  std::fprintf(stderr, "simt: %-40s %9s %16s %9s %9s\n", "kernel", "launches", "instructions", "seconds", "M/s");
  std::vector<std::pair<std::string, Context::Profile>> rows(context.profile.begin(), context.profile.end());
  std::sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) { return a.second.seconds > b.second.seconds; });
  for (const auto &[name, p] : rows)
    std::fprintf(stderr, "simt: %-40s %9llu %16llu %9.3f %9.0f\n", name.c_str(), (unsigned long long)p.launches,
                 (unsigned long long)p.executed, p.seconds, (double)p.executed / p.seconds / 1e6);
}

// Where a device's limits depend on its architecture: bytes of shared memory of a multiprocessor, of a block that asks
// for more, threads and blocks of a multiprocessor.
struct Limits {
  int shared, sharedOptIn, threads, blocks;
};
static Limits limitsOf(int arch) {
  switch (arch) {
  case 80:
  case 87:
    return {167936, 166912, 2048, 32};
  case 86:
  case 89:
    return {102400, 101376, 1536, arch == 86 ? 16 : 24};
  case 90:
  case 100:
  case 103:
    return {233472, 232448, 2048, 32};
  case 120:
  case 121:
    return {102400, 101376, 1536, 24};
  default:
    return {98304, 98304, 2048, 32};
  }
}

int deviceAttribute(int which) {
  const Settings &settings = driver().settings;
  const Limits limits = limitsOf(settings.arch);
  switch (which) {
  case ATTRIBUTE_MAX_THREADS_PER_BLOCK:
  case ATTRIBUTE_MAX_BLOCK_DIM_X:
  case ATTRIBUTE_MAX_BLOCK_DIM_Y:
    return 1024;
  case ATTRIBUTE_MAX_BLOCK_DIM_Z:
    return 64;
  case ATTRIBUTE_MAX_GRID_DIM_X:
    return 0x7fffffff;
  case ATTRIBUTE_MAX_GRID_DIM_Y:
  case ATTRIBUTE_MAX_GRID_DIM_Z:
    return 65535;
  case ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    return 49152;
  case ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
    return 65536;
  case ATTRIBUTE_WARP_SIZE:
    return 32;
  case ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
  case ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    return 65536;
  case ATTRIBUTE_CLOCK_RATE:
    return 1000000;
  case ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return settings.multiprocessors;
  case ATTRIBUTE_INTEGRATED:
  case ATTRIBUTE_ECC_ENABLED:
    return 0;
  case ATTRIBUTE_CONCURRENT_KERNELS:
  case ATTRIBUTE_ASYNC_ENGINE_COUNT:
  case ATTRIBUTE_UNIFIED_ADDRESSING:
    return 1;
  case ATTRIBUTE_MEMORY_CLOCK_RATE:
    return 1000000;
  case ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    return 256;
  case ATTRIBUTE_L2_CACHE_SIZE:
    return 4 << 20;
  case ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    return limits.threads;
  case ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return settings.arch / 10;
  case ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return settings.arch % 10;
  case ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    return limits.shared;
  case ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return limits.sharedOptIn;
  case ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
    return limits.blocks;
  case ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    return settings.arch >= 80 ? 1024 : 0;
  default:
    return -1;
  }
}

} // namespace simt

using namespace simt;

SIMT_API cuInit(unsigned flags) {
  const std::lock_guard lock(driver().mutex);
  if (flags)
    return CUDA_ERROR_INVALID_VALUE;
  if (!driver().context)
    driver().settings = Settings::read();
  driver().initialised = driver().settings.devices > 0;
  return driver().initialised ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

SIMT_API cuDriverGetVersion(int *version) {
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = 13000;
  return CUDA_SUCCESS;
}

SIMT_API cuDeviceGetCount(int *count) {
  const std::lock_guard lock(driver().mutex);
  if (!driver().initialised)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  *count = driver().settings.devices;
  return CUDA_SUCCESS;
}

static CUresult checkDevice(CUdevice device) {
  if (!driver().initialised)
    return CUDA_ERROR_NOT_INITIALIZED;
  return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

SIMT_API cuDeviceGet(CUdevice *device, int ordinal) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = checkDevice(ordinal))
    return result;
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

SIMT_API cuDeviceGetName(char *name, int size, CUdevice device) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = checkDevice(device))
    return result;
  if (!name || size < 1)
    return CUDA_ERROR_INVALID_VALUE;
  std::snprintf(name, size, "SIMT emulator sm_%d", driver().settings.arch);
  return CUDA_SUCCESS;
}

SIMT_API cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = checkDevice(device))
    return result;
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  *bytes = driver().settings.memory;
  return CUDA_SUCCESS;
}

SIMT_API cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = checkDevice(device))
    return result;
  const int found = deviceAttribute(attribute);
  if (!value || found < 0) {
    if (found < 0)
      complain("device attribute " + std::to_string(attribute) + " is not emulated");
    return CUDA_ERROR_INVALID_VALUE;
  }
  *value = found;
  return CUDA_SUCCESS;
}

SIMT_API cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = checkDevice(device))
    return result;
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  std::unique_ptr<Context> &one = driver().context;
  if (!one) {
    one = std::make_unique<Context>();
    one->memory = std::make_unique<DeviceMemory>(driver().settings.memory, driver().settings.checkGlobal);
  }
  ++one->retained;
  *context = reinterpret_cast<CUcontext>(one.get());
  return CUDA_SUCCESS;
}

SIMT_API cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  const std::lock_guard lock(driver().mutex);
  if (const CUresult result = checkDevice(device))
    return result;
  std::unique_ptr<Context> &one = driver().context;
  if (!one)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (--one->retained)
    return CUDA_SUCCESS;
  if (!one->error)
    drainAll(*one);
  report(*one);
  for (const auto &[address, bytes] : one->pinned)
    std::free(address);
  if (currentContext == one.get())
    currentContext = nullptr;
  one.reset();
  return CUDA_SUCCESS;
}

SIMT_API cuCtxSetCurrent(CUcontext context) {
  const std::lock_guard lock(driver().mutex);
  if (!driver().initialised)
    return CUDA_ERROR_NOT_INITIALIZED;
  Context *const given = reinterpret_cast<Context *>(context);
  if (given && given != driver().context.get())
    return CUDA_ERROR_INVALID_CONTEXT;
  currentContext = given;
  return CUDA_SUCCESS;
}

SIMT_API cuCtxSynchronize() {
  SIMT_ENTER
  if (!context->captures.empty()) {
    for (const std::shared_ptr<Capture> &capture : context->captures)
      capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return drainAll(*context);
}

namespace {
struct ErrorText {
  CUresult code;
  const char *name, *text;
};
constexpr ErrorText ERRORS[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
     "the provided PTX was compiled with an unsupported toolchain."},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed in the present state"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {CUDA_ERROR_STREAM_CAPTURE_MERGE, "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "operation would result in a merge of separate capture sequences"},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not ended in the same stream as it began"},
    {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "capturing stream has unjoined work"},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {CUDA_ERROR_CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};
const ErrorText *findError(CUresult code) {
  for (const ErrorText &error : ERRORS)
    if (error.code == code)
      return &error;
  return nullptr;
}
} // namespace

SIMT_API cuGetErrorName(CUresult error, const char **text) {
  const ErrorText *const found = findError(error);
  *text = found ? found->name : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIMT_API cuGetErrorString(CUresult error, const char **text) {
  const ErrorText *const found = findError(error);
  *text = found ? found->text : nullptr;
  return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
