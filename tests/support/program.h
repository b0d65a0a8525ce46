// Compiles a module with the product's own pipeline, loads the object into this process and runs entries through the
// ABI, as the runtime would but with guards around every buffer.
//
//   Program program(std::move(module), {.cpu = "x86-64-v3"});
//   Results outputs = program.run("step", arguments);   // arguments and results in the order of the joint function's
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "passes/ir/burin.h"
#include "passes/stages.h"
#include "runtime/abi/burin.h"
#include "tests/support/device.h"
#include "tests/support/evaluator.h"

namespace burin::test {

// One for the process, with every dialect of the compiler loaded.
mlir::MLIRContext &context();

// An empty module with the attributes that every stage expects and no parameters.
mlir::OwningOpRef<mlir::ModuleOp> emptyModule(const std::string &cpu);

// Runs stages and throws std::runtime_error with the diagnostics where one fails.
void lower(mlir::ModuleOp module, const StageOptions &options);

// The function called `name`; throws where there is none.
mlir::func::FuncOp entry(mlir::ModuleOp module, const std::string &name);

// The levels of this machine's instruction set that programs are tested on: of x86-64, x86-64-v3 and x86-64-v4 those it
// has.
std::vector<std::string> machineTargets();

// "nvptx" where its programs can be run: by the emulator, or on a device (device.h), which picks the text that runs.
// Slow, so not among the others.
std::vector<std::string> deviceTargets();

// Both.
std::vector<std::string> allTargets();

// How the cells of a launch are cut: all at once, or one at a time from the last to the first; on devices over many
// blocks or two. Results must not depend on it.
enum class Cut { whole, single };

class Program {
public:
  // Throws std::runtime_error with the diagnostics of a stage that fails.
  explicit Program(mlir::OwningOpRef<mlir::ModuleOp> imported, StageOptions options = {});
  ~Program();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  // The entry as it stood at the stage `joint`.
  mlir::func::FuncOp joint(const std::string &name) const { return entry(*jointModule, name); }
  const burin_entry &abi(const std::string &name) const;

  // Throws where an entry writes outside its buffers.
  Results run(const std::string &name, const std::vector<Values> &arguments, Cut cut = Cut::whole) const;

  const burin_model *model = nullptr;

private:
  void runOnDevice(const burin_entry &compiled, void *const *bases, Cut cut) const;

  mlir::OwningOpRef<mlir::ModuleOp> module, jointModule;
  std::unique_ptr<DeviceModel> deviceModel;
  void *library = nullptr;
};

} // namespace burin::test
