#include "device/cuda_device.h"

#include <algorithm>
#include <iterator>

namespace burin::runtime::cuda {
namespace {

// Of one multiprocessor in one clock, an addition and a multiplication counted as two. Where chips of one capability
// differ in their matrix units, 0.
struct Units {
  int capability, f32, bf16;
};
constexpr Units table[] = {{70, 128, 0}, {75, 128, 0},    {80, 128, 2048},  {86, 256, 0},     {87, 256, 0},
                           {89, 256, 0}, {90, 256, 4096}, {100, 256, 8192}, {103, 256, 8192}, {120, 256, 0}};

} // namespace

DeviceFacts findDevice(const Driver &driver) {
  if (Result result = driver.cuInit(0); result == noDevice)
    throw NoDevice("there is a driver for NVIDIA GPUs, but no GPU");
  else if (result != 0)
    throw NoDevice(fmt::format("the driver for NVIDIA GPUs does not start: {}", driver.describe(result)));
  int count = 0;
  driver.check(driver.cuDeviceGetCount(&count), "counting GPUs");
  if (count < 1)
    throw NoDevice("there is a driver for NVIDIA GPUs, but no GPU");

  DeviceFacts device;
  driver.check(driver.cuDeviceGet(&device.index, 0), "asking for the first GPU");
  char name[256] = "";
  driver.check(driver.cuDeviceGetName(name, sizeof name, device.index), "asking for the GPU's name");
  name[sizeof name - 1] = 0;
  device.name = name;
  size_t bytes = 0;
  driver.check(driver.cuDeviceTotalMem_v2(&bytes, device.index), "asking for the memory of {}", device.name);
  device.bytes = static_cast<int64_t>(bytes);
  auto attribute = [&](DeviceAttribute which, const char *what) {
    int value = 0;
    driver.check(driver.cuDeviceGetAttribute(&value, which, device.index), "asking for the {} of {}", what,
                 device.name);
    return value;
  };
  device.capability =
      10 * attribute(capabilityMajor, "compute capability") + attribute(capabilityMinor, "compute capability");
  device.multiprocessors = attribute(multiprocessors, "number of multiprocessors");
  device.sharedBytes = attribute(sharedBytesOptIn, "shared memory");
  if (int kilohertz = 0; driver.cuDeviceGetAttribute(&kilohertz, clockKilohertz, device.index) == 0)
    device.clock = std::max(kilohertz, 0) * 1e3;
  driver.check(driver.cuDriverGetVersion(&device.driver), "asking for the driver's version");
  return device;
}

bool canRun(int64_t capability, const burin_module &module) {
  return module.exact ? module.compute_capability == capability : module.compute_capability <= capability;
}

const burin_module *textFor(int64_t capability, const burin_model &model) {
  const burin_module *best = nullptr;
  for (int64_t i = 0; i < model.num_modules; ++i) {
    const burin_module &module = model.modules[i];
    if (canRun(capability, module) &&
        (!best || module.compute_capability > best->compute_capability ||
         (module.compute_capability == best->compute_capability && module.exact > best->exact)))
      best = &module;
  }
  return best;
}

std::string architectureOf(const burin_module &module) {
  return fmt::format("sm_{}{}", module.compute_capability, module.exact ? "a" : "");
}

std::string capabilityText(int64_t capability) { return fmt::format("{}.{}", capability / 10, capability % 10); }

double peakFlops(const DeviceFacts &device, std::string_view dtype) {
  auto units = std::find_if(std::begin(table), std::end(table),
                            [&](const Units &each) { return each.capability == device.capability; });
  if (units == std::end(table))
    return 0;
  return device.clock * device.multiprocessors * (dtype == "bf16" ? units->bf16 : units->f32);
}

} // namespace burin::runtime::cuda
