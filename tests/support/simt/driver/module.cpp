// Modules, functions, launches.
#include "../decode/decode.h"
#include "../ptx/ptx.h"
#include "state.h"
#include <algorithm>
#include <cstring>

namespace simt {

int deviceAttribute(int which); // device.cpp

// Newest text that is known: CUDA 13.0 reads PTX 9.0.
constexpr int NEWEST_PTX = 90;

CUresult runLaunch(Context &context, Launch launch) {
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = execute(launch, driver().settings.threads);
  Context::Profile &profile = context.profile[launch.kernel->name];
  ++profile.launches;
  profile.executed += outcome.executed;
  profile.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (outcome.code)
    complain(outcome.message);
  return outcome.code;
}

// "sm_90a" runs on just that, "sm_100f" on its family, "sm_80" on all later ones.
static bool runsOn(const std::string &target, int arch) {
  if (!target.starts_with("sm_"))
    return false;
  char *end = nullptr;
  const int least = (int)std::strtol(target.c_str() + 3, &end, 10);
  if (*end == 'a')
    return arch == least;
  if (*end == 'f')
    return arch / 10 == least / 10 && arch >= least;
  return !*end && arch >= least;
}

static Function *findFunction(Context &context, CUfunction handle) {
  for (const auto &[key, module] : context.modules)
    for (const auto &[name, function] : module->functions)
      if (reinterpret_cast<Function *>(handle) == function.get())
        return function.get();
  return nullptr;
}

static void unload(Context &context, Module &module) {
  for (const uint64_t variable : module.variables)
    context.memory->release(variable);
}

static CUresult load(Context &context, const char *text, Module &module, std::string &error) {
  try {
    const ptx::Module parsed = ptx::parse(text);
    if (parsed.version > NEWEST_PTX) {
      error = ".version " + std::to_string(parsed.version / 10) + "." + std::to_string(parsed.version % 10) +
              " is newer than this driver";
      return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    if (!runsOn(parsed.target, driver().settings.arch)) {
      error = ".target " + parsed.target + " does not run on sm_" + std::to_string(driver().settings.arch);
      return CUDA_ERROR_INVALID_PTX;
    }
    Symbols symbols;
    for (const ptx::Variable &variable : parsed.variables) {
      if (variable.space == "shared")
        continue;
      if (variable.external) {
        error = "line " + std::to_string(variable.line) + ": variable '" + variable.name + "' of another module";
        return CUDA_ERROR_INVALID_PTX;
      }
      const uint64_t address = context.memory->allocate(std::max<int64_t>(1, variable.bytes), variable.name);
      if (!address)
        return CUDA_ERROR_OUT_OF_MEMORY;
      module.variables.push_back(address);
      symbols[variable.name] = address;
      // Without values it begins as zeros.
      std::memset(context.memory->host(address), 0, variable.bytes);
      if (!variable.initial.empty())
        std::memcpy(context.memory->host(address), variable.initial.data(), variable.bytes);
      context.memory->markInitialised(address, variable.bytes);
    }
    for (const ptx::Function &function : parsed.functions) {
      auto made = std::make_unique<Function>();
      made->kernel = std::make_shared<const Kernel>(decode(parsed, function, symbols));
      made->module = &module;
      made->ptxVersion = parsed.version;
      made->binaryVersion = driver().settings.arch;
      module.functions[function.name] = std::move(made);
    }
  } catch (const ptx::Error &wrong) {
    error = wrong.what();
    return CUDA_ERROR_INVALID_PTX;
  }
  return CUDA_SUCCESS;
}

} // namespace simt

using namespace simt;

SIMT_API cuModuleLoadDataEx(CUmodule *handle, const void *image, unsigned count, int *options, void **values) {
  SIMT_ENTER
  if (!handle || !image || (count && (!options || !values)))
    return CUDA_ERROR_INVALID_VALUE;
  auto module = std::make_unique<Module>();
  std::string error;
  const CUresult result = load(*context, static_cast<const char *>(image), *module, error);
  if (!error.empty())
    complain("PTX: " + error);
  // Values of options are pointers or numbers in place of pointers; sizes come back as what was written.
  const auto option = [&](int which) -> void ** {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == which)
        return &values[i];
    return nullptr;
  };
  if (void **const size = option(JIT_INFO_LOG_BUFFER_SIZE_BYTES)) {
    if (void **const buffer = option(JIT_INFO_LOG_BUFFER); buffer && *buffer && *size)
      static_cast<char *>(*buffer)[0] = 0;
    *size = nullptr;
  }
  if (void **const size = option(JIT_ERROR_LOG_BUFFER_SIZE_BYTES)) {
    const size_t room = reinterpret_cast<size_t>(*size), written = room ? std::min(error.size(), room - 1) : 0;
    if (void **const buffer = option(JIT_ERROR_LOG_BUFFER); buffer && *buffer && room) {
      std::memcpy(*buffer, error.data(), written);
      static_cast<char *>(*buffer)[written] = 0;
    }
    *size = reinterpret_cast<void *>(written);
  }
  if (result) {
    unload(*context, *module);
    return result;
  }
  *handle = reinterpret_cast<CUmodule>(module.get());
  context->modules[module.get()] = std::move(module);
  return CUDA_SUCCESS;
}

SIMT_API cuModuleUnload(CUmodule handle) {
  SIMT_ENTER
  const auto found = context->modules.find(reinterpret_cast<Module *>(handle));
  if (found == context->modules.end())
    return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult result = drainAll(*context))
    return result;
  unload(*context, *found->second);
  context->modules.erase(found);
  return CUDA_SUCCESS;
}

SIMT_API cuModuleGetFunction(CUfunction *function, CUmodule handle, const char *name) {
  SIMT_ENTER
  const auto module = context->modules.find(reinterpret_cast<Module *>(handle));
  if (module == context->modules.end())
    return CUDA_ERROR_INVALID_HANDLE;
  if (!function || !name)
    return CUDA_ERROR_INVALID_VALUE;
  const auto found = module->second->functions.find(name);
  if (found == module->second->functions.end())
    return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(found->second.get());
  return CUDA_SUCCESS;
}

// Registers of a thread: what lives at once and a few for addresses.
static int registersOf(const Kernel &kernel) {
  return (int)std::min<int64_t>(255, std::max<int64_t>(16, kernel.liveRegisters + 8));
}

static int threadsOf(const Kernel &kernel) {
  const int registers = (registersOf(kernel) + 7) / 8 * 8;
  return (int)std::min<int64_t>(kernel.maxThreads, std::min(1024, 65536 / registers / 32 * 32));
}

SIMT_API cuFuncGetAttribute(int *value, int attribute, CUfunction handle) {
  SIMT_ENTER
  const Function *const function = findFunction(*context, handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  const Kernel &kernel = *function->kernel;
  switch (attribute) {
  case FUNCTION_MAX_THREADS_PER_BLOCK:
    *value = threadsOf(kernel);
    break;
  case FUNCTION_SHARED_SIZE_BYTES:
    *value = (int)kernel.staticShared;
    break;
  case FUNCTION_CONST_SIZE_BYTES:
    *value = 0;
    break;
  case FUNCTION_LOCAL_SIZE_BYTES:
    *value = (int)kernel.localBytes;
    break;
  case FUNCTION_NUM_REGS:
    *value = registersOf(kernel);
    break;
  case FUNCTION_PTX_VERSION:
    *value = function->ptxVersion;
    break;
  case FUNCTION_BINARY_VERSION:
    *value = function->binaryVersion;
    break;
  case FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value =
        (int)(function->dynamicShared ? function->dynamicShared
                                      : deviceAttribute(ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) - kernel.staticShared);
    break;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

SIMT_API cuFuncSetAttribute(CUfunction handle, int attribute, int value) {
  SIMT_ENTER
  Function *const function = findFunction(*context, handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (attribute == FUNCTION_PREFERRED_SHARED_MEMORY_CARVEOUT)
    return value < -1 || value > 100 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  if (attribute != FUNCTION_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
      value + function->kernel->staticShared > deviceAttribute(ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN))
    return CUDA_ERROR_INVALID_VALUE;
  function->dynamicShared = value;
  return CUDA_SUCCESS;
}

static bool sharedFits(const Function &function, int64_t dynamic) {
  const int64_t both = function.kernel->staticShared + dynamic;
  return both <= deviceAttribute(ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) || dynamic <= function.dynamicShared;
}

SIMT_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int threads,
                                                     size_t dynamicShared) {
  SIMT_ENTER
  const Function *const function = findFunction(*context, handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!blocks || threads < 1)
    return CUDA_ERROR_INVALID_VALUE;
  const Kernel &kernel = *function->kernel;
  *blocks = 0;
  if (threads > threadsOf(kernel) || !sharedFits(*function, (int64_t)dynamicShared))
    return CUDA_SUCCESS;
  const int warps = (threads + 31) / 32, registers = (registersOf(kernel) + 7) / 8 * 8;
  const int64_t shared =
      kernel.staticShared + (int64_t)dynamicShared + deviceAttribute(ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  *blocks = std::min({deviceAttribute(ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
                      deviceAttribute(ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / (warps * 32),
                      65536 / (registers * 32 * warps),
                      shared ? (int)(deviceAttribute(ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) / shared) : 32});
  return CUDA_SUCCESS;
}

static CUresult refuse(const Kernel &kernel, CUresult code, const std::string &why) {
  complain("launch of '" + kernel.name + "': " + why);
  return code;
}

// The parameters as one piece of memory: from pointers to each, or given as such.
static CUresult gather(const Kernel &kernel, void **each, void **extra, std::vector<uint8_t> &to) {
  to.assign(kernel.parameterSpace, 0);
  if (each && extra)
    return refuse(kernel, CUDA_ERROR_INVALID_VALUE, "parameters given twice");
  if (each) {
    for (size_t i = 0; i < kernel.parameterBytes.size(); ++i) {
      if (!each[i])
        return refuse(kernel, CUDA_ERROR_INVALID_VALUE, "parameter " + std::to_string(i) + " is a null pointer");
      std::memcpy(to.data() + kernel.parameterOffset[i], each[i], kernel.parameterBytes[i]);
    }
    return CUDA_SUCCESS;
  }
  const void *buffer = nullptr;
  size_t size = 0;
  for (; extra && extra[0]; extra += 2)
    if (reinterpret_cast<uintptr_t>(extra[0]) == 1)
      buffer = extra[1];
    else if (reinterpret_cast<uintptr_t>(extra[0]) == 2)
      size = *static_cast<size_t *>(extra[1]);
    else
      return refuse(kernel, CUDA_ERROR_INVALID_VALUE, "unknown extra argument");
  if (size != to.size() || (size && !buffer))
    return refuse(kernel, CUDA_ERROR_INVALID_VALUE,
                  std::to_string(size) + " bytes of parameters, expected " + std::to_string(to.size()));
  if (size)
    std::memcpy(to.data(), buffer, size);
  return CUDA_SUCCESS;
}

SIMT_API cuLaunchKernel(CUfunction handle, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                        unsigned blockY, unsigned blockZ, unsigned shared, CUstream streamHandle, void **parameters,
                        void **extra) {
  SIMT_ENTER
  const Function *const function = findFunction(*context, handle);
  if (!function)
    return CUDA_ERROR_INVALID_HANDLE;
  std::shared_ptr<Stream> stream;
  if (const CUresult result = findStream(*context, streamHandle, stream))
    return result;
  const Kernel &kernel = *function->kernel;
  const uint64_t threads = uint64_t(blockX) * blockY * blockZ;
  if (!gridX || !gridY || !gridZ || !threads || gridX > 0x7fffffff || gridY > 65535 || gridZ > 65535)
    return refuse(kernel, CUDA_ERROR_INVALID_VALUE,
                  "a grid of " + std::to_string(gridX) + " x " + std::to_string(gridY) + " x " + std::to_string(gridZ) +
                      " blocks of " + std::to_string(threads) + " threads");
  if (threads > 1024 || blockZ > 64 || (int64_t)threads > kernel.maxThreads ||
      (kernel.requiredThreads && (int64_t)threads != kernel.requiredThreads))
    return refuse(kernel, CUDA_ERROR_INVALID_VALUE,
                  std::to_string(threads) + " threads in a block, expected " +
                      (kernel.requiredThreads ? std::to_string(kernel.requiredThreads)
                                              : "at most " + std::to_string(kernel.maxThreads)));
  if (!sharedFits(*function, shared))
    return refuse(
        kernel, CUDA_ERROR_INVALID_VALUE,
        std::to_string(shared) + " bytes of dynamic shared memory beside " + std::to_string(kernel.staticShared) +
            " static ones; more than " + std::to_string(deviceAttribute(ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)) +
            " must be asked for with cuFuncSetAttribute, which allowed " + std::to_string(function->dynamicShared));
  Launch launch;
  launch.memory = context->memory.get();
  if (const CUresult result = gather(kernel, parameters, extra, launch.parameters))
    return result;
  const unsigned grid[3] = {gridX, gridY, gridZ}, block[3] = {blockX, blockY, blockZ};
  std::copy_n(grid, 3, launch.grid);
  std::copy_n(block, 3, launch.threads);
  launch.dynamicShared = shared;
  launch.kernel = function->kernel.get();
  // The kernel lives as long as what may run it.
  return give(*context, stream, [context, launch, alive = function->kernel] { return runLaunch(*context, launch); });
}
