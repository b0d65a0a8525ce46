// x86-64, the family of machines that codegen/cpu writes for, and the architectures that codegen/gpu writes for. What a
// CPU can do is a set of features that imply one another; LLVM's tables say which CPU has which. The facts that shape
// tiles follow from three of them: 512-bit vectors come with 32 registers, 256-bit ones (with fused multiply-add) and
// 128-bit ones with 16. Caches are this machine's for "native" and typical sizes otherwise.
//
// Of a GPU a "core" is a block of threads. Panels are 64 columns wide (lanes x 2), a tile of a product and what it
// needs of its left side fit into the memory that a block shares (`l2`, of which a quarter is the tile), blocks of
// attention's scores into a third of it (`l1`), and there are enough cells for all multiprocessors. `features` names
// the architecture for which kernels may have a form of their own beside that for `cpu`.
#include "codegen/target/target.h"

#include <fstream>
#include <map>
#include <set>

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"

namespace burin {
namespace {

using Features = std::set<std::string>;

// The 64-bit CPUs of LLVM's list, by their own names; LLVM's code generator knows "x86-64" and its levels as CPUs too.
llvm::SmallVector<llvm::StringRef> cpuNames() {
  llvm::SmallVector<llvm::StringRef> names;
  llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
  return names;
}

// All features of a CPU, implied ones included.
Features featuresOf(llvm::StringRef cpu) {
  llvm::SmallVector<llvm::StringRef> listed;
  llvm::X86::getFeaturesForCPU(cpu, listed);
  llvm::StringMap<bool> closure;
  for (llvm::StringRef feature : listed) {
    closure[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, true, closure);
  }
  Features features;
  for (const auto &entry : closure)
    if (entry.second)
      features.insert(entry.first().str());
  return features;
}

// `features` of the attribute ("+fma,-avx512f") applied to those of its CPU.
Features featuresOf(TargetAttr target) {
  Features features = featuresOf(target.getCpu().getValue());
  llvm::SmallVector<llvm::StringRef> changes;
  target.getFeatures().getValue().split(changes, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef change : changes) {
    std::string name = change.drop_front().str();
    if (change.front() == '+')
      features.insert(name);
    else
      features.erase(name);
  }
  return features;
}

// /proc/cpuinfo's word for each feature whose instructions may appear in compiled code. Features that only systems use
// are left out.
const std::map<std::string, std::string> &cpuinfoNames() {
  static const std::map<std::string, std::string> names = {
      {"sse3", "pni"},
      {"ssse3", "ssse3"},
      {"sse4.1", "sse4_1"},
      {"sse4.2", "sse4_2"},
      {"sse4a", "sse4a"},
      {"popcnt", "popcnt"},
      {"lzcnt", "abm"},
      {"movbe", "movbe"},
      {"bmi", "bmi1"},
      {"bmi2", "bmi2"},
      {"adx", "adx"},
      {"avx", "avx"},
      {"avx2", "avx2"},
      {"fma", "fma"},
      {"fma4", "fma4"},
      {"xop", "xop"},
      {"f16c", "f16c"},
      {"gfni", "gfni"},
      {"vaes", "vaes"},
      {"vpclmulqdq", "vpclmulqdq"},
      {"avxvnni", "avx_vnni"},
      {"avx512f", "avx512f"},
      {"avx512bw", "avx512bw"},
      {"avx512cd", "avx512cd"},
      {"avx512dq", "avx512dq"},
      {"avx512vl", "avx512vl"},
      {"avx512ifma", "avx512ifma"},
      {"avx512vbmi", "avx512vbmi"},
      {"avx512vbmi2", "avx512_vbmi2"},
      {"avx512vnni", "avx512_vnni"},
      {"avx512bitalg", "avx512_bitalg"},
      {"avx512vpopcntdq", "avx512_vpopcntdq"},
      {"avx512vp2intersect", "avx512_vp2intersect"},
      {"avx512bf16", "avx512_bf16"},
      {"avx512fp16", "avx512_fp16"},
      {"amx-tile", "amx_tile"},
      {"amx-bf16", "amx_bf16"},
      {"amx-int8", "amx_int8"},
      {"amx-fp16", "amx_fp16"},
  };
  return names;
}

// Where this machine's features differ from those that its CPU's name stands for: virtual machines hide some, systems
// disable others. Only features that code may use: the others would fill the dump with words that change nothing.
std::string hostChanges(llvm::StringRef cpu) {
  Features expected = featuresOf(cpu);
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  std::vector<std::string> changes;
  for (const auto &[feature, word] : cpuinfoNames()) {
    bool present = host.lookup(feature);
    if (present != (expected.count(feature) != 0))
      changes.push_back((present ? "+" : "-") + feature);
  }
  return llvm::join(changes, ",");
}

// Bytes of this machine's data or unified cache of a level, as the system lists them; 0 where it doesn't.
int64_t hostCache(int level) {
  for (int index = 0; index < 8; ++index) {
    std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    auto read = [&](const char *name) {
      std::string value;
      std::ifstream(folder + name) >> value;
      return value;
    };
    if (read("level") != std::to_string(level) || read("type") == "Instruction")
      continue;
    std::string text = read("size"); // "32K"
    llvm::StringRef digits = llvm::StringRef(text).take_while(llvm::isDigit);
    int64_t bytes = 0;
    if (digits.getAsInteger(10, bytes))
      continue;
    llvm::StringRef unit = llvm::StringRef(text).drop_front(digits.size());
    return unit == "K" ? bytes << 10 : unit == "M" ? bytes << 20 : bytes;
  }
  return 0;
}

// The architectures by LLVM's names. Code for the first runs on all later ones as well, code for the second there
// alone.
constexpr llvm::StringLiteral devices[] = {"sm_80", "sm_90a"};

constexpr int64_t deviceLanes = 32, deviceRegisters = 16, deviceCells = 128;

} // namespace

bool isDevice(TargetAttr target) { return target.getCpu().getValue().starts_with("sm_"); }

std::string targetNames() {
  std::string names = "native\nnvptx\n";
  for (llvm::StringRef name : devices)
    names += ("nvptx:" + name + "\n").str();
  for (llvm::StringRef name : cpuNames())
    names += (name + "\n").str();
  return names;
}

std::string faultOf(TargetAttr target) {
  std::string cpu = target.getCpu().str();
  for (int64_t bytes : {target.getL1(), target.getL2()})
    if (bytes < 4096 || bytes > int64_t(1) << 32)
      return "a cache of " + std::to_string(bytes) + " bytes: expected l1 and l2 between 4096 and 2^32";
  if (target.getCells() < 1 || target.getCells() > 1 << 20)
    return "cells = " + std::to_string(target.getCells()) + ": expected 1 to 2^20";
  if (isDevice(target)) {
    if (!llvm::is_contained(devices, cpu))
      return "unknown architecture '" + cpu + "': expected sm_80 or sm_90a";
    if (llvm::StringRef beside = target.getFeatures().getValue();
        !beside.empty() && (cpu != devices[0] || beside != devices[1]))
      return ("features = \"" + beside + "\": expected none, or sm_90a beside sm_80").str();
    if (target.getLanes() != deviceLanes || target.getRegisters() != deviceRegisters)
      return "lanes = " + std::to_string(target.getLanes()) + ", registers = " + std::to_string(target.getRegisters()) +
             ": expected 32 and 16 for " + cpu;
    return {};
  }
  if (!llvm::is_contained(cpuNames(), cpu))
    return "unknown CPU '" + cpu + "': expected one of the names that 'burin-opt --list-cpus' prints";
  Features known;
  for (llvm::StringRef name : cpuNames())
    known.merge(featuresOf(name));
  llvm::SmallVector<llvm::StringRef> changes;
  target.getFeatures().getValue().split(changes, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef change : changes)
    if ((change.front() != '+' && change.front() != '-') || !known.count(change.drop_front().str()))
      return ("unknown feature '" + change +
              "': expected LLVM's names with + or - before each, as in \"+fma,-avx512f\"")
          .str();
  int64_t lanes = target.getLanes(), registers = target.getRegisters();
  if (lanes != 4 && lanes != 8 && lanes != 16)
    return "lanes = " + std::to_string(lanes) + ": expected 4, 8 or 16";
  if (registers != 16 && registers != 32)
    return "registers = " + std::to_string(registers) + ": expected 16 or 32";
  return {};
}

TargetAttr targetFor(mlir::MLIRContext &context, llvm::StringRef cpu, std::string &error) {
  mlir::Builder b(&context);
  if (cpu.consume_front("nvptx")) {
    // Without a name: the first for all, and the second beside it where it would differ.
    llvm::StringRef name = cpu.empty() ? llvm::StringRef(devices[0]) : cpu.drop_front(),
                    beside = cpu.empty() ? llvm::StringRef(devices[1]) : "";
    if ((!cpu.empty() && cpu.front() != ':') || !llvm::is_contained(devices, name)) {
      error = "unknown target 'nvptx" + cpu.str() + "': expected nvptx (code for both), nvptx:sm_80 or nvptx:sm_90a";
      return {};
    }
    return TargetAttr::get(&context, b.getStringAttr(name), b.getStringAttr(beside), deviceLanes, deviceRegisters,
                           /*l1=*/32 << 10, /*l2=*/128 << 10, deviceCells);
  }
  bool native = cpu == "native";
  std::string name = native ? llvm::sys::getHostCPUName().str() : cpu.str();
  if (!llvm::is_contained(cpuNames(), name)) {
    error = native ? "this machine's CPU ('" + name +
                         "') has no 64-bit x86 code generator; name the CPU that the program is for"
                   : "unknown CPU '" + name +
                         "': expected native, x86-64, x86-64-v2, x86-64-v3, x86-64-v4 or one of the names that "
                         "'burin-opt --list-cpus' prints";
    return {};
  }
  constexpr int64_t cells = 16;
  auto make = [&](llvm::StringRef changes, int64_t lanes, int64_t registers, int64_t l1, int64_t l2) {
    return TargetAttr::get(&context, b.getStringAttr(name), b.getStringAttr(changes), lanes, registers, l1, l2, cells);
  };
  std::string changes = native ? hostChanges(name) : "";
  Features features = featuresOf(make(changes, 0, 0, 0, 0));
  bool wide = features.count("avx512f"), middle = features.count("avx2") && features.count("fma");
  int64_t l1 = native ? hostCache(1) : 0, l2 = native ? hostCache(2) : 0;
  return make(changes,
              wide     ? 16
              : middle ? 8
                       : 4,
              wide ? 32 : 16, l1 ? l1 : 32 << 10,
              l2     ? l2
              : wide ? 1 << 20
                     : 512 << 10);
}

std::string requiredFeatures(TargetAttr target) {
  if (isDevice(target))
    return {};
  std::set<std::string> words;
  Features features = featuresOf(target);
  for (const auto &[feature, word] : cpuinfoNames())
    if (features.count(feature))
      words.insert(word);
  return llvm::join(words, ",");
}

} // namespace burin
