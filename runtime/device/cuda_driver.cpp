#include "device/cuda_driver.h"

#include <dlfcn.h>

#include <cstdlib>

namespace burin::runtime::cuda {
namespace {

constexpr const char *usualName = "libcuda.so.1", *variable = "BURIN_CUDA_DRIVER";

} // namespace

Driver::Driver() {
  const char *named = std::getenv(variable);
  const std::string path = named && *named ? named : usualName;
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); // never closed: a driver does not like to be
  if (!library)
    throw NoDevice(fmt::format("no driver for NVIDIA GPUs is installed: {}", dlerror()));
  auto find = [&](const char *name) {
    void *function = dlsym(library, name);
    if (!function)
      throw NoDevice(fmt::format("the driver library {} has no function {}; a newer driver is needed", path, name));
    return function;
  };
#define BURIN_CUDA_FIND(name, arguments) name = reinterpret_cast<decltype(name)>(find(#name));
  BURIN_CUDA_FUNCTIONS(BURIN_CUDA_FIND)
#undef BURIN_CUDA_FIND
}

const Driver &Driver::get() {
  static const Driver driver; // tried again at the next call when it throws
  return driver;
}

std::string Driver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != 0 || !name)
    return fmt::format("error {}", result);
  if (cuGetErrorString(result, &text) != 0 || !text)
    return name;
  return fmt::format("{} ({})", text, name);
}

} // namespace burin::runtime::cuda
