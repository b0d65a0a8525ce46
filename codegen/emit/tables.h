// What a module of stage `native` says about its model, read once and strictly: object, header and reports are written
// from this.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "passes/ir/burin.h"
#include "runtime/abi/burin.h"

namespace burin {

using BufferBytes = std::array<int64_t, BURIN_NUM_BUFFERS>;

struct LaunchTable {
  std::string kernel, what, place;
  std::vector<int64_t> args; // (buffer, offset) of each tensor
  int64_t cells = 0;
  double flops = 0, bytes = 0;
  int64_t threads = 0, sharedBytes = 0, scratchBytes = 0; // of a block, on GPUs
};

struct TensorTable {
  std::string name;
  burin_dtype dtype = BURIN_F32;
  std::vector<int64_t> shape;
  int32_t buffer = 0;
  int64_t offset = 0;
  int64_t bytes = 0;
  int64_t lower = 0, upper = 0; // equal: unchecked
};

struct EntryTable {
  std::string name;
  std::vector<LaunchTable> launches;
  std::vector<TensorTable> inputs, outputs;
  int64_t batch = 0, length = 0;
  BufferBytes bytes{};
  double flops = 0;
};

struct ParameterTable {
  std::string name, place;
  std::vector<int64_t> shape;
  bool decay = false;
  int64_t offset = 0, bytes = 0;
  burin_init_kind init = BURIN_INIT_CONSTANT;
  double mean = 0, std = 0, cut = 0;
};

struct ModelTable {
  std::string name;   // the model's, also in checkpoints
  std::string symbol; // what the object and the header are named after
  std::string revision;
  std::string dtype = "f32"; // of what products take
  TargetAttr target;
  std::vector<EntryTable> entries;
  std::vector<ParameterTable> parameters;
  int64_t moments = 0, parameterCount = 0, vocab = 0, scratchBytes = 0;
  BufferBytes bytes{}; // the greatest over the entries
  double flopsPerStep = 0;
  std::array<int64_t, BURIN_NUM_FLOP_KINDS> forwardFlops{};
};

// Nothing, after a diagnostic, for a module that lacks something or contradicts itself. Works from stage `tiled` on;
// what launches on GPUs need is there from stage `native` on.
std::optional<ModelTable> readTables(mlir::ModuleOp module);

} // namespace burin
