// The C interface: each function does one thing of the classes behind it and turns what they throw into a status.
#include <cstring>
#include <exception>

#include "burin_runtime.h"
#include "device/device.h"
#include "store/layout.h"
#include "train/initialize.h"

using namespace burin::runtime;

struct burin_device {
  Device device;
};

namespace {

// A fixed array, so that reporting that memory ran out needs none.
thread_local char lastMessage[1024] = "";

burin_status report(burin_status status, const char *message) noexcept {
  std::strncpy(lastMessage, message, sizeof lastMessage - 1);
  return status;
}

template <typename Action> burin_status guarded(Action action) noexcept {
  try {
    action();
    return BURIN_OK;
  } catch (const Error &error) {
    return report(BURIN_FAILED, error.what());
  } catch (const std::exception &error) {
    return report(BURIN_INTERNAL, error.what());
  } catch (...) {
    return report(BURIN_INTERNAL, "internal error: unknown exception (please report)");
  }
}

template <typename T> T &present(T *pointer, const char *what) {
  if (!pointer)
    fail("{} is NULL", what);
  return *pointer;
}

void checkSize(std::string_view name, size_t have, size_t need, const char *unit) {
  if (have != need)
    fail("'{}' has {} {}, the caller gives {}", name, need, unit, have);
}

} // namespace

const char *burin_last_message(void) { return lastMessage; }

burin_status burin_create(const burin_model *model, int threads, burin_device **device) {
  return guarded([&] {
    present(device, "device") = nullptr;
    *device = new burin_device{Device(present(model, "model"), threads)};
  });
}

void burin_destroy(burin_device *device) { delete device; }

burin_status burin_initialize(burin_device *device, uint64_t seed) {
  return guarded([&] { initialize(present(device, "device").device, seed); });
}

burin_status burin_set_input(burin_device *device, const char *entry, const char *name, const void *data,
                             size_t bytes) {
  return guarded([&] {
    Device &target = present(device, "device").device;
    const burin_tensor &tensor = target.input(target.entry(&present(entry, "entry")), &present(name, "name"));
    checkSize(tensor.name, bytes, static_cast<size_t>(tensor.bytes), "bytes");
    if (!data)
      fail("data is NULL");
    std::memcpy(target.buffer(BURIN_INPUTS) + tensor.offset, data, bytes);
  });
}

burin_status burin_get_output(burin_device *device, const char *entry, const char *name, void *data, size_t bytes) {
  return guarded([&] {
    Device &source = present(device, "device").device;
    const burin_tensor &tensor = source.output(source.entry(&present(entry, "entry")), &present(name, "name"));
    checkSize(tensor.name, bytes, static_cast<size_t>(tensor.bytes), "bytes");
    if (!data)
      fail("data is NULL");
    const std::byte *values = source.buffer(BURIN_OUTPUTS) + tensor.offset;
    source.download(std::span(values, bytes));
    std::memcpy(data, values, bytes);
  });
}

burin_status burin_run(burin_device *device, const char *entry) {
  return guarded([&] {
    Device &target = present(device, "device").device;
    target.run(target.entry(&present(entry, "entry")));
  });
}

burin_status burin_set_parameter(burin_device *device, const char *name, const float *data, size_t count) {
  return guarded([&] {
    Device &target = present(device, "device").device;
    const burin_parameter &parameter = target.parameter(&present(name, "name"));
    checkSize(name, count, logicalSize(parameter), "elements");
    toStored(parameter, {&present(data, "data"), count}, target.weights(parameter));
    target.upload(target.weights(parameter));
  });
}

burin_status burin_get_parameter(burin_device *device, const char *name, float *data, size_t count) {
  return guarded([&] {
    Device &source = present(device, "device").device;
    const burin_parameter &parameter = source.parameter(&present(name, "name"));
    checkSize(name, count, logicalSize(parameter), "elements");
    source.download(source.weights(parameter));
    toLogical(parameter, source.weights(parameter), {&present(data, "data"), count});
  });
}

burin_status burin_get_gradient(burin_device *device, const char *name, float *data, size_t count) {
  return guarded([&] {
    Device &source = present(device, "device").device;
    const burin_parameter &parameter = source.parameter(&present(name, "name"));
    checkSize(name, count, logicalSize(parameter), "elements");
    source.download(source.gradient(parameter));
    toLogical(parameter, source.gradient(parameter), {&present(data, "data"), count});
  });
}

void *burin_buffer_data(burin_device *device, enum burin_buffer buffer) {
  return device && buffer >= 0 && buffer < BURIN_NUM_BUFFERS ? device->device.base(buffer) : nullptr;
}
