// What stands behind the handles. Work that is given to a stream is done when somebody waits for it and not before: who
// forgets to wait sees old data.
#pragma once
#include "../machine/execute.h"
#include "types.h"
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

namespace simt {

struct Settings {
  int devices = 1, arch = 80, multiprocessors = 4, threads = 1;
  uint64_t memory = uint64_t(4) << 30;
  bool checkGlobal = false, profile = false;
  static Settings read(); // from BURIN_SIMT_*
};

struct Stream;
struct Capture;

// Something for a stream, after what other streams had been given before it.
struct Work {
  std::function<CUresult()> run;
  std::vector<std::pair<std::shared_ptr<Stream>, uint64_t>> after;
};

struct Stream {
  bool blocking = true; // waits for the default stream and the default stream for it
  std::deque<Work> queue;
  uint64_t given = 0, done = 0;
  std::shared_ptr<Capture> capture;
  std::set<size_t> frontier; // of the capture: nodes that come last in this stream
};

struct Node {
  std::function<CUresult()> run;
  std::set<size_t> after;
};

struct Capture {
  Stream *origin = nullptr;
  int mode = 0;
  bool invalid = false;
  std::vector<Node> nodes;
  std::vector<Stream *> streams;
};

struct Event {
  // One call of cuEventRecord.
  struct Record {
    std::shared_ptr<Stream> stream;
    bool done = false;
    std::chrono::steady_clock::time_point when;
  };
  std::shared_ptr<Record> record;
  std::shared_ptr<Capture> capture; // recorded in a stream that is captured
  std::set<size_t> frontier;
  bool timing = true;
};

struct Module;
struct Function {
  std::shared_ptr<const Kernel> kernel;
  Module *module = nullptr;
  int64_t dynamicShared = 0; // opted in
  int ptxVersion = 0, binaryVersion = 0;
};

struct Module {
  std::map<std::string, std::unique_ptr<Function>> functions;
  std::vector<uint64_t> variables;
};

struct Graph {
  std::vector<Node> nodes;
};
struct GraphExec {
  std::shared_ptr<const Graph> graph;
};

struct Context {
  int retained = 0;
  CUresult error = 0; // sticks
  std::unique_ptr<DeviceMemory> memory;
  std::shared_ptr<Stream> defaultStream = std::make_shared<Stream>();
  std::map<Stream *, std::shared_ptr<Stream>> streams;
  std::map<Event *, std::unique_ptr<Event>> events;
  std::map<Module *, std::unique_ptr<Module>> modules;
  std::map<Graph *, std::shared_ptr<Graph>> graphs;
  std::map<GraphExec *, std::unique_ptr<GraphExec>> graphExecs;
  std::map<uint8_t *, uint64_t> pinned; // host memory, by address
  std::set<std::shared_ptr<Capture>> captures;

  struct Profile {
    uint64_t launches = 0, executed = 0;
    double seconds = 0;
  };
  std::map<std::string, Profile> profile;
};

struct Driver {
  std::recursive_mutex mutex;
  bool initialised = false;
  Settings settings;
  std::unique_ptr<Context> context; // of the one device
};

Driver &driver();
extern thread_local Context *currentContext;

// What most calls begin with: initialised, a context, no error that sticks.
CUresult enter(Context *&context);
#define SIMT_ENTER                                                                                                     \
  const std::lock_guard lock(driver().mutex);                                                                          \
  Context *context = nullptr;                                                                                          \
  if (const CUresult entered = enter(context))                                                                         \
    return entered;

// Streams.
CUresult findStream(Context &, CUstream, std::shared_ptr<Stream> &);
CUresult give(Context &, const std::shared_ptr<Stream> &, std::function<CUresult()>); // or into its capture
CUresult drain(Context &, Stream &, uint64_t until = ~uint64_t(0));
CUresult drainAll(Context &);
CUresult refuseWhileCapturing(Context &); // for calls that are allowed only to a relaxed capture

bool isPinned(const Context &, const void *, uint64_t bytes);

// Copies and launches as they are done in the end.
CUresult runLaunch(Context &, Launch);
void complain(const std::string &);

} // namespace simt
