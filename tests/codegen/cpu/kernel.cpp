#include "tests/codegen/cpu/kernel.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "codegen/cpu/cpu.h"
#include "codegen/cpu/object.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"

namespace burin::test {

using namespace mlir;

static constexpr int64_t scratchBytes = 1 << 20;

std::vector<Machine> machines() { return {{"x86-64-v4", 16, 32}, {"x86-64-v3", 8, 16}, {"x86-64", 4, 16}}; }

bool Machine::isPresent() const {
  if (lanes == 16)
    return __builtin_cpu_supports("x86-64-v4");
  return lanes == 4 || __builtin_cpu_supports("x86-64-v3");
}

Buffer::Buffer(int64_t elements) : elements(elements) {
  size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE)), used = static_cast<size_t>(elements) * 4;
  bytes = (used + page - 1) / page * page + page;
  pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    throw std::bad_alloc();
  char *guard = static_cast<char *>(pages) + bytes - page;
  mprotect(guard, page, PROT_NONE);
  start = guard - used;
  // What a kernel reads without being told to shows up in its result.
  std::fill_n(floats(), elements, std::numeric_limits<float>::quiet_NaN());
}

Buffer::~Buffer() { munmap(pages, bytes); }

Kernels::~Kernels() {
  if (library)
    dlclose(library);
}

void Kernels::add(const std::string &name, const std::vector<std::string> &types, const std::string &body) {
  text += "func.func @" + name + "(";
  for (size_t i = 0; i < types.size(); ++i)
    text += "%" + std::to_string(i) + ": " + types[i] + ", ";
  text += "%first: index, %last: index, %scratch: memref<?xi8>) attributes {burin.kernel, burin.scratch = " +
          std::to_string(scratchBytes) +
          " : i64} {\n%zero = arith.constant 0 : index\n%one = arith.constant 1 : index\nscf.for %cell = %first to "
          "%last step %one {\n" +
          body + "}\nreturn\n}\n";
}

void Kernels::compile() {
  MLIRContext context;
  context.loadDialect<BurinDialect, arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                      linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect,
                      scf::SCFDialect, vector::VectorDialect>();
  std::string target = "#burin.target<cpu = \"" + machine.cpu +
                       "\", features = \"\", lanes = " + std::to_string(machine.lanes) +
                       ", registers = " + std::to_string(machine.registers) + ", l1 = 32768, l2 = 524288>";
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>("module attributes {burin.target = " + target + "} {\n" + text + "}\n", &context);
  ASSERT_TRUE(module) << text;
  PassManager passes(&context);
  buildCpuPipeline(passes);
  ASSERT_TRUE(succeeded(passes.run(*module)));
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> native = translateToLlvm(*module, llvmContext);
  ASSERT_TRUE(native);
  for (llvm::Function &function : *native)
    if (!function.isDeclaration())
      function.setLinkage(llvm::GlobalValue::ExternalLinkage);
  llvm::SmallVector<char> bytes;
  std::string error;
  ASSERT_TRUE(emitObject(*native, (*module)->getAttrOfType<TargetAttr>("burin.target"), bytes, error)) << error;

  char folder[] = "/tmp/burin_kernels_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  std::string object = std::string(folder) + "/kernels.o", shared = std::string(folder) + "/kernels.so";
  std::ofstream(object, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  int status = std::system(("cc -shared -o " + shared + " " + object + " -lm").c_str());
  if (status == 0)
    library = dlopen(shared.c_str(), RTLD_NOW | RTLD_LOCAL);
  unlink(object.c_str());
  unlink(shared.c_str());
  rmdir(folder);
  ASSERT_EQ(status, 0);
  ASSERT_NE(library, nullptr) << dlerror();
}

Kernels::Function Kernels::function(const std::string &name) const {
  auto function = reinterpret_cast<Function>(dlsym(library, name.c_str()));
  EXPECT_NE(function, nullptr) << name;
  return function;
}

void Kernels::run(const std::string &name, const std::vector<const Buffer *> &buffers, int64_t first,
                  int64_t last) const {
  Function kernel = function(name);
  ASSERT_NE(kernel, nullptr);
  // Each tensor is found through another buffer number and a byte offset, in the order opposite to the arguments'.
  std::vector<void *> bases;
  std::vector<int64_t> args;
  for (auto buffer = buffers.rbegin(); buffer != buffers.rend(); ++buffer)
    bases.push_back(reinterpret_cast<char *>((*buffer)->floats()) - 128);
  for (size_t i = 0; i < buffers.size(); ++i) {
    args.push_back(static_cast<int64_t>(buffers.size() - 1 - i));
    args.push_back(128);
  }
  Buffer scratch(scratchBytes / 4);
  kernel(bases.data(), args.data(), first, last, scratch.floats());
}

std::string join(const std::vector<int64_t> &numbers, const char *between) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? between : "") + std::to_string(numbers[i]);
  return text;
}

std::string flatType(int64_t elements, const std::string &element) {
  return "memref<" + std::to_string(elements) + "x" + element + ">";
}

std::string TileText::type() const {
  std::string text = "memref<";
  for (int64_t size : sizes)
    text += std::to_string(size) + "x";
  return text + element + ", strided<[" + join(strides) + "], offset: ?>>";
}

std::string TileText::define(const std::string &name) const {
  std::string at = "%" + name + "_at";
  return at + " = arith.constant " + std::to_string(offset) + " : index\n%" + name + " = memref.reinterpret_cast %" +
         std::to_string(argument) + " to offset: [" + at + "], sizes: [" + join(sizes) + "], strides: [" +
         join(strides) + "] : " + flatType(end(), element) + " to " + type() + "\n";
}

int64_t TileText::end() const {
  int64_t last = offset;
  for (size_t d = 0; d < sizes.size(); ++d)
    last += (sizes[d] - 1) * strides[d];
  return last + 1;
}

} // namespace burin::test
