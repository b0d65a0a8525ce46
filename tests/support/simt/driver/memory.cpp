// Device memory, pinned host memory, copies.
#include "state.h"
#include <cstdlib>
#include <cstring>

namespace simt {

bool isPinned(const Context &context, const void *pointer, uint64_t bytes) {
  uint8_t *const at = static_cast<uint8_t *>(const_cast<void *>(pointer));
  auto after = context.pinned.upper_bound(at);
  if (after == context.pinned.begin())
    return false;
  --after;
  return (uint64_t)(at - after->first) + bytes <= after->second;
}

// A copy that leaves its allocation is refused, as by the real driver, and says why.
static CUresult checkRange(const Context &context, CUdeviceptr address, size_t bytes, const char *what) {
  if (context.memory->holds(address, bytes))
    return CUDA_SUCCESS;
  char text[96];
  std::snprintf(text, sizeof text, "%s of %zu bytes at 0x%llx: ", what, bytes, address);
  complain(text + context.memory->describe(address));
  return CUDA_ERROR_INVALID_VALUE;
}

} // namespace simt

using namespace simt;

SIMT_API cuMemGetInfo_v2(size_t *free, size_t *total) {
  SIMT_ENTER
  if (!free || !total)
    return CUDA_ERROR_INVALID_VALUE;
  *free = context->memory->available();
  *total = context->memory->total();
  return CUDA_SUCCESS;
}

SIMT_API cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  SIMT_ENTER
  if (const CUresult refused = refuseWhileCapturing(*context))
    return refused;
  if (!address || !bytes)
    return CUDA_ERROR_INVALID_VALUE;
  *address = context->memory->allocate(bytes);
  return *address ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SIMT_API cuMemFree_v2(CUdeviceptr address) {
  SIMT_ENTER
  if (const CUresult refused = refuseWhileCapturing(*context))
    return refused;
  if (!address)
    return CUDA_SUCCESS;
  if (const CUresult result = drainAll(*context))
    return result;
  return context->memory->release(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIMT_API cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) {
  SIMT_ENTER
  if (const CUresult refused = refuseWhileCapturing(*context))
    return refused;
  if (!pointer || !bytes || flags > 7)
    return CUDA_ERROR_INVALID_VALUE;
  void *const made = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!made)
    return CUDA_ERROR_OUT_OF_MEMORY;
  context->pinned[static_cast<uint8_t *>(made)] = bytes;
  *pointer = made;
  return CUDA_SUCCESS;
}

SIMT_API cuMemAllocHost_v2(void **pointer, size_t bytes) { return cuMemHostAlloc(pointer, bytes, 0); }

SIMT_API cuMemFreeHost(void *pointer) {
  SIMT_ENTER
  const auto found = context->pinned.find(static_cast<uint8_t *>(pointer));
  if (found == context->pinned.end())
    return CUDA_ERROR_INVALID_VALUE;
  drainAll(*context);
  std::free(pointer);
  context->pinned.erase(found);
  return context->error;
}

SIMT_API cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream handle) {
  SIMT_ENTER
  std::shared_ptr<Stream> stream;
  if (const CUresult result = findStream(*context, handle, stream))
    return result;
  if (const CUresult result = checkRange(*context, to, bytes, "memset"))
    return result;
  return give(*context, stream, [=] {
    std::memset(context->memory->host(to), value, bytes);
    context->memory->markInitialised(to, bytes);
    return CUDA_SUCCESS;
  });
}

static CUresult toDevice(Context &context, CUdeviceptr to, const void *from, size_t bytes,
                         const std::shared_ptr<Stream> &stream) {
  if (!from && bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = checkRange(context, to, bytes, "copy to the device"))
    return result;
  Context *const where = &context;
  const auto copy = [where, to, bytes](const void *source) {
    std::memcpy(where->memory->host(to), source, bytes);
    where->memory->markInitialised(to, bytes);
    return CUDA_SUCCESS;
  };
  // Of memory that is not pinned the driver takes a copy before it returns; that of a graph is read as it runs.
  if (isPinned(context, from, bytes) || stream->capture)
    return give(context, stream, [copy, from] { return copy(from); });
  const auto staged = std::make_shared<std::vector<uint8_t>>(static_cast<const uint8_t *>(from),
                                                             static_cast<const uint8_t *>(from) + bytes);
  return give(context, stream, [copy, staged] { return copy(staged->data()); });
}

static CUresult toHost(Context &context, void *to, CUdeviceptr from, size_t bytes,
                       const std::shared_ptr<Stream> &stream) {
  if (!to && bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult result = checkRange(context, from, bytes, "copy from the device"))
    return result;
  Context *const where = &context;
  const bool waits = !isPinned(context, to, bytes) && !stream->capture;
  const CUresult result = give(context, stream, [=] {
    std::memcpy(to, where->memory->host(from), bytes);
    return CUDA_SUCCESS;
  });
  // To memory that is not pinned the copy has been made when the call returns.
  return result || !waits ? result : drain(context, *stream);
}

SIMT_API cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream handle) {
  SIMT_ENTER
  std::shared_ptr<Stream> stream;
  if (const CUresult result = findStream(*context, handle, stream))
    return result;
  return toDevice(*context, to, from, bytes, stream);
}

SIMT_API cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream handle) {
  SIMT_ENTER
  std::shared_ptr<Stream> stream;
  if (const CUresult result = findStream(*context, handle, stream))
    return result;
  return toHost(*context, to, from, bytes, stream);
}

SIMT_API cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes) {
  SIMT_ENTER
  if (const CUresult result = toDevice(*context, to, from, bytes, context->defaultStream))
    return result;
  return drain(*context, *context->defaultStream);
}

SIMT_API cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) {
  SIMT_ENTER
  if (const CUresult result = toHost(*context, to, from, bytes, context->defaultStream))
    return result;
  return drain(*context, *context->defaultStream);
}
