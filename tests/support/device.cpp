// The functions of the driver that device.h needs, found by name.
#include "tests/support/device.h"

#include <dlfcn.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace burin::test {

namespace {

// As in NVIDIA's documentation of the driver API; handles are pointers, results 0 for success.
struct Driver {
  int (*init)(unsigned);
  int (*deviceGet)(int *, int);
  int (*deviceAttribute)(int *, int, int);
  int (*contextRetain)(void **, int);
  int (*contextSetCurrent)(void *);
  int (*contextSynchronize)();
  int (*moduleLoad)(void **, const void *, unsigned, int *, void **);
  int (*moduleUnload)(void *);
  int (*moduleGetFunction)(void **, void *, const char *);
  int (*functionSetAttribute)(void *, int, int);
  int (*allocate)(uint64_t *, size_t);
  int (*release)(uint64_t);
  int (*toDevice)(uint64_t, const void *, size_t);
  int (*toHost)(void *, uint64_t, size_t);
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
  int (*errorString)(int, const char **);
  std::string fault; // why there is none
  int64_t capability = 0;

  Driver() {
    const char *named = std::getenv("BURIN_CUDA_DRIVER");
    // The emulator is a device that runs the texts of all architectures.
    if (!named)
      setenv("BURIN_SIMT_ARCH", "90", /*overwrite=*/0);
    const std::string path = named ? named : BURIN_SIMT_DRIVER;
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      fault = dlerror();
      return;
    }
    auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (!function && fault.empty())
        fault = path + " has no " + name;
    };
    find(init, "cuInit");
    find(deviceGet, "cuDeviceGet");
    find(deviceAttribute, "cuDeviceGetAttribute");
    find(contextRetain, "cuDevicePrimaryCtxRetain");
    find(contextSetCurrent, "cuCtxSetCurrent");
    find(contextSynchronize, "cuCtxSynchronize");
    find(moduleLoad, "cuModuleLoadDataEx");
    find(moduleUnload, "cuModuleUnload");
    find(moduleGetFunction, "cuModuleGetFunction");
    find(functionSetAttribute, "cuFuncSetAttribute");
    find(allocate, "cuMemAlloc_v2");
    find(release, "cuMemFree_v2");
    find(toDevice, "cuMemcpyHtoD_v2");
    find(toHost, "cuMemcpyDtoH_v2");
    find(launch, "cuLaunchKernel");
    find(errorString, "cuGetErrorString");
    if (!fault.empty())
      return;
    int device = 0, major = 0, minor = 0;
    void *context = nullptr;
    constexpr int capabilityMajor = 75, capabilityMinor = 76; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_...
    if (init(0) != 0 || deviceGet(&device, 0) != 0 || contextRetain(&context, device) != 0 ||
        contextSetCurrent(context) != 0 || deviceAttribute(&major, capabilityMajor, device) != 0 ||
        deviceAttribute(&minor, capabilityMinor, device) != 0)
      fault = path + " has no device";
    capability = 10 * major + minor;
  }
};

const Driver &driver() {
  static const Driver driver;
  return driver;
}

void check(int result, const std::string &what) {
  if (result == 0)
    return;
  const char *words = nullptr;
  driver().errorString(result, &words);
  throw std::runtime_error(what + ": " + (words ? words : "error " + std::to_string(result)));
}

} // namespace

std::string whyNoDevice() { return driver().fault; }

DeviceBuffer::DeviceBuffer(int64_t bytes) {
  if (bytes == 0)
    return;
  check(driver().allocate(&start, static_cast<size_t>(bytes)), "cuMemAlloc");
  const std::vector<char> unwritten(static_cast<size_t>(bytes), '\xff');
  write(0, unwritten.data(), bytes);
}

DeviceBuffer::~DeviceBuffer() {
  if (start)
    driver().release(start);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer &&other) noexcept : start(other.start) { other.start = 0; }

void DeviceBuffer::write(int64_t offset, const void *from, int64_t bytes) {
  check(driver().toDevice(start + static_cast<uint64_t>(offset), from, static_cast<size_t>(bytes)), "cuMemcpyHtoD");
}

void DeviceBuffer::read(int64_t offset, void *to, int64_t bytes) const {
  check(driver().toHost(to, start + static_cast<uint64_t>(offset), static_cast<size_t>(bytes)), "cuMemcpyDtoH");
}

DeviceModel::DeviceModel(const burin_model &model) {
  if (!whyNoDevice().empty())
    throw std::runtime_error("no device: " + whyNoDevice());
  // The last that the device runs: texts for one architecture alone stand behind those for all.
  const burin_module *best = nullptr;
  for (int64_t i = 0; i < model.num_modules; ++i) {
    const burin_module &each = model.modules[i];
    if (each.exact ? each.compute_capability == driver().capability : each.compute_capability <= driver().capability)
      best = &each;
  }
  if (!best)
    throw std::runtime_error("no module of the model runs on a device of compute capability " +
                             std::to_string(driver().capability));
  // For a look at what a failing test has run.
  if (const char *path = std::getenv("BURIN_TEST_PTX"))
    std::ofstream(path) << best->text;
  check(driver().moduleLoad(&module, best->text, 0, nullptr, nullptr), "cuModuleLoadDataEx");
}

DeviceModel::~DeviceModel() {
  if (module)
    driver().moduleUnload(module);
}

void DeviceModel::launch(const burin_launch &launch, const std::vector<uint64_t> &buffers, int64_t blocks) const {
  const std::string what = std::string("launch '") + launch.op + "' (" + launch.kernel_name + ")";
  void *function = nullptr;
  check(driver().moduleGetFunction(&function, module, launch.kernel_name), what);
  constexpr int mostDynamicShared = 8; // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  check(driver().functionSetAttribute(function, mostDynamicShared, static_cast<int>(launch.shared_bytes)), what);
  DeviceBuffer scratch(blocks * launch.scratch_bytes);
  std::vector<uint64_t> values;
  for (int64_t i = 0; i < launch.num_args; i += 2)
    values.push_back(buffers[static_cast<size_t>(launch.args[i])] + static_cast<uint64_t>(launch.args[i + 1]));
  values.push_back(static_cast<uint64_t>(launch.cells));
  values.push_back(scratch.address());
  std::vector<void *> parameters;
  for (uint64_t &value : values)
    parameters.push_back(&value);
  check(driver().launch(function, static_cast<unsigned>(blocks), 1, 1, static_cast<unsigned>(launch.threads), 1, 1,
                        static_cast<unsigned>(launch.shared_bytes), nullptr, parameters.data(), nullptr),
        what);
  check(driver().contextSynchronize(), what);
}

} // namespace burin::test
