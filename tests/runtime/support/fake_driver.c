/* A stand-in for the CUDA driver library that computes nothing: for what goes wrong around kernels, and for who calls
 * what how often. BURIN_FAKE names what is wrong with the machine; BURIN_FAKE_LOG a file that gets the number of calls
 * of each function, one a line, when the program ends. "Memory of the GPU" is memory of the host. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_PTX = 218, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700 };

static int broken(const char *fault) {
  const char *is = getenv("BURIN_FAKE");
  return is && !strcmp(is, fault);
}

static struct {
  const char *name;
  long calls;
} counts[64];

static void writeCounts(void) {
  FILE *file = fopen(getenv("BURIN_FAKE_LOG"), "w");
  for (int i = 0; file && counts[i].name; ++i)
    fprintf(file, "%s %ld\n", counts[i].name, counts[i].calls);
  if (file)
    fclose(file);
}

static void count(const char *name) {
  static int begun = 0;
  if (!getenv("BURIN_FAKE_LOG"))
    return;
  if (!begun)
    begun = !atexit(writeCounts);
  int i = 0;
  while (counts[i].name && strcmp(counts[i].name, name))
    ++i;
  counts[i].name = name;
  ++counts[i].calls;
}

/* A kernel that failed spoils every later call. */
static long launches = 0;
static int after(const char *name) {
  count(name);
  return broken("kernel") && launches > 4 ? ILLEGAL_ADDRESS : OK;
}
#define CALLED after(__func__)

int cuInit(unsigned flags) {
  (void)flags;
  return broken("no_device") ? NO_DEVICE : OK;
}
int cuDriverGetVersion(int *version) {
  *version = 13000;
  return OK;
}
int cuGetErrorName(int result, const char **text) {
  *text = result == OUT_OF_MEMORY     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == INVALID_PTX     ? "CUDA_ERROR_INVALID_PTX"
          : result == NOT_FOUND       ? "CUDA_ERROR_NOT_FOUND"
          : result == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                      : NULL;
  return *text ? OK : 1;
}
int cuGetErrorString(int result, const char **text) {
  *text = result == ILLEGAL_ADDRESS ? "an illegal memory access was encountered" : "the fake driver says so";
  return OK;
}
int cuDeviceGetCount(int *devices) {
  *devices = broken("no_devices") ? 0 : 1;
  return OK;
}
int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return OK;
}
int cuDeviceGetName(char *name, int bytes, int device) {
  (void)device;
  snprintf(name, (size_t)bytes, "Fake GPU");
  return OK;
}
int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  (void)device;
  *bytes = (size_t)1 << 30;
  return OK;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  switch (attribute) {
  case 13: /* kHz */
    *value = broken("no_clock") ? 0 : 1000000;
    return OK;
  case 16: /* multiprocessors */
    *value = 10;
    return OK;
  case 75: /* compute capability */
    *value = broken("old") ? 7 : 9;
    return OK;
  case 76:
    *value = broken("old") ? 5 : 0;
    return OK;
  case 97: /* shared memory of a block */
    *value = broken("little_shared") ? 4 : 232448;
    return OK;
  default:
    return 1;
  }
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  (void)device;
  *context = &counts;
  return broken("no_context") ? OUT_OF_MEMORY : OK;
}
int cuDevicePrimaryCtxRelease_v2(int device) {
  (void)device;
  return CALLED;
}
int cuCtxSetCurrent(void *context) {
  (void)context;
  return OK;
}
int cuMemGetInfo_v2(size_t *free, size_t *total) {
  *total = (size_t)1 << (broken("large") ? 36 : 30);
  *free = broken("small") ? 1000 : *total;
  return OK;
}
int cuMemAlloc_v2(unsigned long long *address, size_t bytes) {
  static int allocated = 0;
  *address = 0;
  if (broken("fragmented") && ++allocated > 2)
    return OUT_OF_MEMORY;
  *address = (uintptr_t)calloc(1, bytes);
  return CALLED;
}
int cuMemFree_v2(unsigned long long address) {
  free((void *)(uintptr_t)address);
  return CALLED;
}
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  (void)flags;
  *memory = calloc(1, bytes);
  return CALLED;
}
int cuMemFreeHost(void *memory) {
  free(memory);
  return CALLED;
}
int cuMemsetD8Async(unsigned long long to, unsigned char value, size_t bytes, void *stream) {
  (void)stream;
  memset((void *)(uintptr_t)to, value, bytes);
  return CALLED;
}
int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t bytes, void *stream) {
  (void)stream;
  memcpy((void *)(uintptr_t)to, from, bytes);
  return CALLED;
}
int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t bytes, void *stream) {
  (void)stream;
  memcpy(to, (void *)(uintptr_t)from, bytes);
  return CALLED;
}
static int make(void **object, const char *name) {
  *object = malloc(1);
  return after(name);
}
static int destroy(void *object, const char *name) {
  free(object);
  return after(name);
}
int cuStreamCreate(void **stream, unsigned flags) { return (void)flags, make(stream, __func__); }
int cuStreamDestroy_v2(void *stream) { return destroy(stream, __func__); }
int cuStreamSynchronize(void *stream) { return (void)stream, CALLED; }
int cuStreamWaitEvent(void *stream, void *event, unsigned flags) {
  (void)stream, (void)event, (void)flags;
  return CALLED;
}
int cuStreamBeginCapture_v2(void *stream, int mode) { return (void)stream, (void)mode, CALLED; }
int cuStreamEndCapture(void *stream, void **graph) { return (void)stream, make(graph, __func__); }
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags) {
  (void)graph, (void)flags;
  return make(exec, __func__);
}
#ifndef WITHOUT_GRAPHS
int cuGraphLaunch(void *exec, void *stream) {
  (void)exec, (void)stream;
  int result = CALLED; /* of what was launched before */
  ++launches;
  return result;
}
#endif
int cuGraphDestroy(void *graph) { return destroy(graph, __func__); }
int cuGraphExecDestroy(void *exec) { return destroy(exec, __func__); }
int cuEventCreate(void **event, unsigned flags) { return (void)flags, make(event, __func__); }
int cuEventRecord(void *event, void *stream) { return (void)event, (void)stream, CALLED; }
int cuEventSynchronize(void *event) { return (void)event, CALLED; }
int cuEventElapsedTime(float *milliseconds, void *from, void *to) {
  (void)from, (void)to;
  *milliseconds = 2;
  return CALLED;
}
int cuEventDestroy_v2(void *event) { return destroy(event, __func__); }
int cuModuleLoadDataEx(void **module, const void *text, unsigned numOptions, int *options, void **values) {
  *module = (void *)(uintptr_t)text;
  for (unsigned i = 0; broken("jit") && i < numOptions; ++i)
    if (options[i] == 5)
      strcpy(values[i], "ptxas application ptx input, line 7; error : Unknown symbol 'x'\nptxas fatal : aborted\n");
  return broken("jit") ? INVALID_PTX : CALLED;
}
int cuModuleUnload(void *module) { return (void)module, CALLED; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = strstr(module, name);
  return broken("no_kernel") ? NOT_FOUND : CALLED;
}
int cuFuncGetAttribute(int *value, int attribute, void *function) {
  (void)function;
  *value = attribute == 0 ? (broken("few_threads") ? 64 : 1024) : 0;
  return CALLED;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  (void)function, (void)attribute, (void)value;
  return CALLED;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t sharedBytes) {
  (void)function, (void)threads, (void)sharedBytes;
  *blocks = broken("no_room") ? 0 : 2;
  return CALLED;
}
int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes, void *stream, void **parameters, void **extra) {
  (void)function, (void)gridX, (void)gridY, (void)gridZ, (void)blockX, (void)blockY, (void)blockZ;
  (void)sharedBytes, (void)stream, (void)parameters, (void)extra;
  return CALLED;
}
