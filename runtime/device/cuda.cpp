// An NVIDIA GPU: one allocation for each buffer, one function of the model's module for each kernel, and each entry as
// a graph of launches that is made once and then replayed, so that the host's part of a run is a few microseconds.
//
// Two streams: one computes, one takes inputs to the GPU. There are two slots for inputs, on the host and on the GPU,
// which runs use in turn, so that the inputs of a run travel while the run before computes. Since addresses are part of
// a graph, each entry has two, one for each slot.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <vector>

#include "device/cuda_device.h"
#include "device/cuda_driver.h"
#include "device/device.h"
#include "device/machine.h"
#include "device/memory.h"

namespace burin::runtime {
namespace {

using namespace cuda;

constexpr int64_t sharedBytesWithoutAsking = 48 << 10;

// What must be given back, in reverse order. A member, so that a constructor that throws gives back what it had.
class Releases {
public:
  Releases() = default;
  Releases(const Releases &) = delete;
  Releases &operator=(const Releases &) = delete;
  ~Releases() {
    for (auto release = all_.rbegin(); release != all_.rend(); ++release)
      (*release)();
  }
  void add(std::function<void()> release) { all_.push_back(std::move(release)); }

private:
  std::vector<std::function<void()>> all_;
};

class Cuda : public Machine {
public:
  explicit Cuda(const burin_model &model);
  // What still runs must have ended before the memory under it goes.
  ~Cuda() override {
    driver_.cuCtxSetCurrent(context_);
    driver_.cuStreamSynchronize(copies_);
    driver_.cuStreamSynchronize(computes_);
  }

  std::byte *host(burin_buffer which) const override { return host_[which]; }
  void *base(burin_buffer which) const override {
    return reinterpret_cast<void *>(which == BURIN_INPUTS ? slots_[0].inputs : memory_[which]);
  }
  bool runsAhead() const override { return true; }
  std::string name() const override { return facts_.name; }
  std::string text() const override { return text_; }
  int64_t bytes() const override { return bytes_; }

  void run(const burin_entry &entry, std::span<double> seconds) override;
  double repeat(const burin_entry &entry, int64_t times) override;
  void upload(burin_buffer which, size_t offset, size_t bytes) override;
  void download(burin_buffer which, size_t offset, size_t bytes) override;
  void clear(burin_buffer which) override;
  Reading ask(burin_buffer which, size_t offset) override;
  float answer(const Reading &reading) override;
  void wait() override;
  double peak(double) override { return peakFlops(facts_, model_.dtype) / 1e9; }

private:
  struct Launch {
    Function function;
    unsigned blocks; // of the grid
  };
  struct Entry {
    std::vector<Launch> launches;
    std::array<GraphExec, 2> graphs = {}; // by slot, made when first run
    size_t inputBytes = 0;                // from the buffer's start to the end of the last input
  };
  struct Slot {
    Address inputs = 0;          // on the GPU
    std::byte *staged = nullptr; // on the host, pinned
    Event copied = nullptr, read = nullptr;
    bool used = false;
  };

  void enter() { driver_.check(driver_.cuCtxSetCurrent(context_), "turning to {}", facts_.name); }
  void loadModule();
  Launch prepareLaunch(const burin_launch &launch);
  void allocate();
  Address allocate(size_t bytes, const char *purpose);
  std::byte *allocatePinned(size_t bytes, const char *purpose);
  Stream makeStream();
  Event makeEvent(unsigned flags = 0);
  Entry &preparedOf(const burin_entry &entry);
  void takeInputs(const Entry &entry, Slot &slot, const char *name);
  void launch(const burin_launch &launch, const Launch &prepared, const Slot &slot);
  GraphExec graph(const burin_entry &entry, Entry &prepared, size_t slot);
  void runTimed(const burin_entry &entry, const Entry &prepared, const Slot &slot, std::span<double> seconds);

  const burin_model &model_;
  const Driver &driver_;
  DeviceFacts facts_;
  Context context_ = nullptr;
  Module module_ = nullptr;
  std::string text_;
  Releases releases_; // after what its actions use
  Stream computes_ = nullptr, copies_ = nullptr;
  std::vector<Entry> entries_; // in the model's order
  size_t scratchBytes_ = 0;
  int64_t bytes_ = 0;
  Address memory_[BURIN_NUM_BUFFERS] = {}; // of the inputs see slots_
  Address scratch_ = 0;
  std::byte *host_[BURIN_NUM_BUFFERS] = {};
  Memory mirrors_[BURIN_NUM_BUFFERS]; // what host_ points to, where it is not pinned
  std::array<Slot, 2> slots_;
  size_t slot_ = 1; // of the last run
  // Where numbers that were asked for arrive: pinned, with an event that tells when. As many as were under way at once.
  struct Answer {
    float *value;
    Event arrived;
  };
  std::vector<Answer> answers_;
  std::vector<size_t> freeAnswers_;
  std::vector<Event> timing_;
};

Cuda::Cuda(const burin_model &model) : model_(model), driver_(Driver::get()), facts_(findDevice(driver_)) {
  if (Result result = driver_.cuDevicePrimaryCtxRetain(&context_, facts_.index); result != 0)
    throw NoDevice(fmt::format("{} cannot be used: {}", facts_.name, driver_.describe(result)));
  releases_.add([this] { driver_.cuDevicePrimaryCtxRelease_v2(facts_.index); });
  enter();
  loadModule();
  for (int64_t i = 0; i < model.num_entries; ++i) {
    const burin_entry &entry = model.entries[i];
    Entry &prepared = entries_.emplace_back();
    for (int64_t j = 0; j < entry.num_launches; ++j) {
      const burin_launch &launch = entry.launches[j];
      prepared.launches.push_back(prepareLaunch(launch));
      scratchBytes_ =
          std::max(scratchBytes_, prepared.launches.back().blocks * static_cast<size_t>(launch.scratch_bytes));
    }
    for (int64_t j = 0; j < entry.num_inputs; ++j)
      prepared.inputBytes =
          std::max(prepared.inputBytes, static_cast<size_t>(entry.inputs[j].offset + entry.inputs[j].bytes));
  }
  allocate();
}

void Cuda::loadModule() {
  const burin_module *best = textFor(facts_.capability, model_);
  std::string offered;
  for (int64_t i = 0; i < model_.num_modules; ++i)
    offered += fmt::format("{}{}{}", i ? ", " : "", capabilityText(model_.modules[i].compute_capability),
                           model_.modules[i].exact ? " alone" : " and later");
  if (!best)
    throw NoDevice(fmt::format("model '{}' was compiled for GPUs of compute capability {}; {} has {}", model_.name,
                               offered, facts_.name, capabilityText(facts_.capability)));

  char log[4096] = "";
  JitOption options[] = {jitErrorLog, jitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)}; // numbers travel as pointers here
  Result result = driver_.cuModuleLoadDataEx(&module_, best->text, 2, options, values);
  log[sizeof log - 1] = 0;
  driver_.check(result, "translating the kernels of model '{}' ({}) for {}{}{}", model_.name, architectureOf(*best),
                facts_.name, *log ? ", which said: " : "", static_cast<const char *>(log));
  releases_.add([this] { driver_.cuModuleUnload(module_); });
  text_ = architectureOf(*best);
}

Cuda::Launch Cuda::prepareLaunch(const burin_launch &launch) {
  const char *name = launch.kernel_name;
  Launch prepared = {};
  driver_.check(driver_.cuModuleGetFunction(&prepared.function, module_, name), "looking for kernel '{}'", name);
  int threads = 0, fixed = 0, blocks = 0;
  driver_.check(driver_.cuFuncGetAttribute(&threads, functionThreads, prepared.function),
                "asking for the threads of kernel '{}'", name);
  if (launch.threads > threads)
    fail("kernel '{}' is to run in blocks of {} threads, {} can run it in {} at most", name, launch.threads,
         facts_.name, threads);
  driver_.check(driver_.cuFuncGetAttribute(&fixed, functionSharedBytes, prepared.function),
                "asking for the shared memory of kernel '{}'", name);
  if (launch.shared_bytes + fixed > facts_.sharedBytes)
    fail("kernel '{}' needs {} bytes of shared memory for a block, {} has {}", name, launch.shared_bytes + fixed,
         facts_.name, facts_.sharedBytes);
  if (launch.shared_bytes > sharedBytesWithoutAsking) {
    // Never lowered: another launch of the kernel may need more.
    int allowed = 0;
    driver_.check(driver_.cuFuncGetAttribute(&allowed, functionDynamicSharedBytes, prepared.function),
                  "asking for the shared memory of kernel '{}'", name);
    if (allowed < launch.shared_bytes)
      driver_.check(driver_.cuFuncSetAttribute(prepared.function, functionDynamicSharedBytes,
                                               static_cast<int>(launch.shared_bytes)),
                    "asking for {} bytes of shared memory for kernel '{}'", launch.shared_bytes, name);
  }
  driver_.check(driver_.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, prepared.function,
                                                                    static_cast<int>(launch.threads),
                                                                    static_cast<size_t>(launch.shared_bytes)),
                "asking how many blocks of kernel '{}' fit a multiprocessor", name);
  if (blocks < 1)
    fail("kernel '{}' in blocks of {} threads with {} bytes of shared memory does not fit a multiprocessor of {}", name,
         launch.threads, launch.shared_bytes, facts_.name);
  // As many as are resident at once: a block takes its next cell without being launched anew.
  prepared.blocks = static_cast<unsigned>(std::min<int64_t>(launch.cells, int64_t{blocks} * facts_.multiprocessors));
  return prepared;
}

void Cuda::allocate() {
  bytes_ = static_cast<int64_t>(scratchBytes_) + model_.bytes[BURIN_INPUTS]; // of which there are two
  for (int64_t bytes : model_.bytes)
    bytes_ += bytes;
  size_t free = 0, total = 0;
  driver_.check(driver_.cuMemGetInfo_v2(&free, &total), "asking for the free memory of {}", facts_.name);
  if (static_cast<size_t>(bytes_) > free)
    throw NoDevice(fmt::format("not enough memory on {}: model '{}' needs {} bytes, of {} are {} free", facts_.name,
                               model_.name, bytes_, total, free));

  computes_ = makeStream();
  copies_ = makeStream();
  for (int i = 0; i < BURIN_NUM_BUFFERS; ++i)
    if (i != BURIN_INPUTS && model_.bytes[i])
      memory_[i] = allocate(static_cast<size_t>(model_.bytes[i]), bufferPurposes[i]);
  scratch_ = allocate(scratchBytes_, "scratch");

  for (int i : {BURIN_PARAMETERS, BURIN_GRADIENTS, BURIN_STATE, BURIN_INPUTS}) {
    mirrors_[i] = Memory(static_cast<size_t>(model_.bytes[i]), bufferPurposes[i]); // costs nothing until it is touched
    host_[i] = mirrors_[i].data();
  }
  host_[BURIN_OUTPUTS] = allocatePinned(static_cast<size_t>(model_.bytes[BURIN_OUTPUTS]), "outputs");
  for (Slot &slot : slots_) {
    slot.inputs = allocate(static_cast<size_t>(model_.bytes[BURIN_INPUTS]), "inputs");
    slot.staged = allocatePinned(static_cast<size_t>(model_.bytes[BURIN_INPUTS]), "inputs");
    slot.copied = makeEvent(eventWithoutTiming);
    slot.read = makeEvent(eventWithoutTiming);
  }
  wait();
}

// Zeroed; 0 for 0 bytes.
Address Cuda::allocate(size_t bytes, const char *purpose) {
  if (bytes == 0)
    return 0;
  Address address = 0;
  if (Result result = driver_.cuMemAlloc_v2(&address, bytes); result == outOfMemory)
    throw NoDevice(fmt::format("not enough memory on {}: {} bytes for {} cannot be had", facts_.name, bytes, purpose));
  else
    driver_.check(result, "allocating {} bytes for {}", bytes, purpose);
  releases_.add([this, address] { driver_.cuMemFree_v2(address); });
  driver_.check(driver_.cuMemsetD8Async(address, 0, bytes, computes_), "clearing {}", purpose);
  return address;
}

// Host memory that the GPU reads and writes by itself.
std::byte *Cuda::allocatePinned(size_t bytes, const char *purpose) {
  if (bytes == 0)
    return nullptr;
  void *memory = nullptr;
  driver_.check(driver_.cuMemHostAlloc(&memory, bytes, 0), "pinning {} bytes for {}", bytes, purpose);
  releases_.add([this, memory] { driver_.cuMemFreeHost(memory); });
  std::memset(memory, 0, bytes);
  return static_cast<std::byte *>(memory);
}

Stream Cuda::makeStream() {
  Stream stream = nullptr;
  driver_.check(driver_.cuStreamCreate(&stream, nonBlockingStream), "making a stream");
  releases_.add([this, stream] { driver_.cuStreamDestroy_v2(stream); });
  return stream;
}

Event Cuda::makeEvent(unsigned flags) {
  Event event = nullptr;
  driver_.check(driver_.cuEventCreate(&event, flags), "making an event");
  releases_.add([this, event] { driver_.cuEventDestroy_v2(event); });
  return event;
}

Cuda::Entry &Cuda::preparedOf(const burin_entry &entry) {
  auto index = static_cast<size_t>(&entry - model_.entries);
  if (index >= entries_.size())
    fail("internal error: '{}' is no entry of model '{}' (please report)", entry.name, model_.name);
  return entries_[index];
}

void Cuda::run(const burin_entry &entry, std::span<double> seconds) {
  enter();
  Entry &prepared = preparedOf(entry);
  slot_ = (slot_ + 1) % slots_.size();
  Slot &slot = slots_[slot_];
  takeInputs(prepared, slot, entry.name);
  if (!seconds.empty())
    runTimed(entry, prepared, slot, seconds);
  else if (entry.num_launches)
    driver_.check(driver_.cuGraphLaunch(graph(entry, prepared, slot_), computes_), "running entry '{}'", entry.name);
  driver_.check(driver_.cuEventRecord(slot.read, computes_), "running entry '{}'", entry.name);
}

double Cuda::repeat(const burin_entry &entry, int64_t times) {
  enter();
  if (entry.num_launches == 0)
    return 0;
  GraphExec exec = graph(entry, preparedOf(entry), slot_);
  while (timing_.size() < 2)
    timing_.push_back(makeEvent());
  driver_.check(driver_.cuEventRecord(timing_[0], computes_), "timing entry '{}'", entry.name);
  for (int64_t i = 0; i < times; ++i)
    driver_.check(driver_.cuGraphLaunch(exec, computes_), "running entry '{}'", entry.name);
  driver_.check(driver_.cuEventRecord(timing_[1], computes_), "timing entry '{}'", entry.name);
  driver_.check(driver_.cuEventRecord(slots_[slot_].read, computes_), "running entry '{}'", entry.name);
  driver_.check(driver_.cuEventSynchronize(timing_[1]), "running entry '{}'", entry.name);
  float milliseconds = 0;
  driver_.check(driver_.cuEventElapsedTime(&milliseconds, timing_[0], timing_[1]), "timing entry '{}'", entry.name);
  return static_cast<double>(milliseconds) / 1e3;
}

void Cuda::takeInputs(const Entry &entry, Slot &slot, const char *name) {
  if (entry.inputBytes == 0)
    return;
  // The host may be two runs ahead and no more: then what it staged is still on its way.
  if (slot.used)
    driver_.check(driver_.cuEventSynchronize(slot.copied), "waiting for the inputs of an earlier run");
  std::memcpy(slot.staged, host_[BURIN_INPUTS], entry.inputBytes);
  if (slot.used)
    driver_.check(driver_.cuStreamWaitEvent(copies_, slot.read, 0), "copying the inputs of entry '{}'", name);
  driver_.check(driver_.cuMemcpyHtoDAsync_v2(slot.inputs, slot.staged, entry.inputBytes, copies_),
                "copying the inputs of entry '{}'", name);
  driver_.check(driver_.cuEventRecord(slot.copied, copies_), "copying the inputs of entry '{}'", name);
  driver_.check(driver_.cuStreamWaitEvent(computes_, slot.copied, 0), "copying the inputs of entry '{}'", name);
  slot.used = true;
}

void Cuda::launch(const burin_launch &launch, const Launch &prepared, const Slot &slot) {
  if (launch.cells == 0)
    return;
  std::vector<uint64_t> values; // a pointer for each tensor, the number of cells, scratch
  for (int64_t i = 0; i < launch.num_args; i += 2) {
    Address base = launch.args[i] == BURIN_INPUTS ? slot.inputs : memory_[launch.args[i]];
    values.push_back(base + static_cast<Address>(launch.args[i + 1]));
  }
  values.push_back(static_cast<uint64_t>(launch.cells));
  values.push_back(launch.scratch_bytes ? scratch_ : 0);
  std::vector<void *> parameters;
  for (uint64_t &value : values)
    parameters.push_back(&value);
  driver_.check(driver_.cuLaunchKernel(prepared.function, prepared.blocks, 1, 1, static_cast<unsigned>(launch.threads),
                                       1, 1, static_cast<unsigned>(launch.shared_bytes), computes_, parameters.data(),
                                       nullptr),
                "launching kernel '{}' ({})", launch.kernel_name, launch.op);
}

GraphExec Cuda::graph(const burin_entry &entry, Entry &prepared, size_t slot) {
  GraphExec &exec = prepared.graphs[slot];
  if (exec)
    return exec;
  driver_.check(driver_.cuStreamBeginCapture_v2(computes_, captureThisThread), "recording entry '{}'", entry.name);
  Graph graph = nullptr;
  try {
    for (int64_t i = 0; i < entry.num_launches; ++i)
      launch(entry.launches[i], prepared.launches[static_cast<size_t>(i)], slots_[slot]);
  } catch (...) {
    if (driver_.cuStreamEndCapture(computes_, &graph) == 0 && graph)
      driver_.cuGraphDestroy(graph);
    throw;
  }
  driver_.check(driver_.cuStreamEndCapture(computes_, &graph), "recording entry '{}'", entry.name);
  Result result = driver_.cuGraphInstantiateWithFlags(&exec, graph, 0);
  driver_.cuGraphDestroy(graph);
  driver_.check(result, "making a graph of entry '{}'", entry.name);
  releases_.add([this, exec] { driver_.cuGraphExecDestroy(exec); });
  return exec;
}

// Launch by launch, with a mark between two of them; a graph would tell the time of the whole only.
void Cuda::runTimed(const burin_entry &entry, const Entry &prepared, const Slot &slot, std::span<double> seconds) {
  const auto count = static_cast<size_t>(entry.num_launches);
  while (timing_.size() < count + 1)
    timing_.push_back(makeEvent());
  for (size_t i = 0; i < count; ++i) {
    driver_.check(driver_.cuEventRecord(timing_[i], computes_), "timing entry '{}'", entry.name);
    launch(entry.launches[i], prepared.launches[i], slot);
  }
  driver_.check(driver_.cuEventRecord(timing_[count], computes_), "timing entry '{}'", entry.name);
  driver_.check(driver_.cuEventSynchronize(timing_[count]), "running entry '{}'", entry.name);
  for (size_t i = 0; i < count; ++i) {
    float milliseconds = 0;
    driver_.check(driver_.cuEventElapsedTime(&milliseconds, timing_[i], timing_[i + 1]), "timing entry '{}'",
                  entry.name);
    seconds[i] = static_cast<double>(milliseconds) / 1e3;
  }
}

void Cuda::upload(burin_buffer which, size_t offset, size_t bytes) {
  if (which == BURIN_INPUTS)
    return; // each run takes them along
  enter();
  driver_.check(driver_.cuMemcpyHtoDAsync_v2(memory_[which] + offset, host_[which] + offset, bytes, computes_),
                "copying {} to {}", bufferPurposes[which], facts_.name);
  wait(); // then the host may write there again
}

void Cuda::download(burin_buffer which, size_t offset, size_t bytes) {
  if (which == BURIN_INPUTS)
    return; // nobody else writes them
  enter();
  driver_.check(driver_.cuMemcpyDtoHAsync_v2(host_[which] + offset, memory_[which] + offset, bytes, computes_),
                "copying {} from {}", bufferPurposes[which], facts_.name);
  wait();
}

void Cuda::clear(burin_buffer which) {
  enter();
  if (memory_[which])
    driver_.check(driver_.cuMemsetD8Async(memory_[which], 0, static_cast<size_t>(model_.bytes[which]), computes_),
                  "clearing {}", bufferPurposes[which]);
}

Reading Cuda::ask(burin_buffer which, size_t offset) {
  enter();
  if (freeAnswers_.empty()) {
    constexpr size_t more = 32;
    auto *values = reinterpret_cast<float *>(allocatePinned(more * sizeof(float), "results"));
    for (size_t i = 0; i < more; ++i) {
      freeAnswers_.push_back(answers_.size());
      answers_.push_back({values + i, makeEvent(eventWithoutTiming)});
    }
  }
  const size_t place = freeAnswers_.back();
  const char *what = bufferPurposes[which];
  driver_.check(driver_.cuMemcpyDtoHAsync_v2(answers_[place].value, memory_[which] + offset, sizeof(float), computes_),
                "copying {} from {}", what, facts_.name);
  driver_.check(driver_.cuEventRecord(answers_[place].arrived, computes_), "copying {} from {}", what, facts_.name);
  freeAnswers_.pop_back();
  return {.value = 0, .place = place};
}

float Cuda::answer(const Reading &reading) {
  enter();
  const Answer &answer = answers_[reading.place];
  driver_.check(driver_.cuEventSynchronize(answer.arrived), "computing on {}", facts_.name);
  freeAnswers_.push_back(reading.place);
  return *answer.value;
}

void Cuda::wait() {
  enter();
  driver_.check(driver_.cuStreamSynchronize(computes_), "computing on {}", facts_.name);
}

} // namespace

std::unique_ptr<Machine> makeCuda(const burin_model &model) { return std::make_unique<Cuda>(model); }

} // namespace burin::runtime
