// A function of a module in the form that the machine runs: instructions whose operands are places in the register
// file of a warp, in an order that makes diverged threads meet again.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace simt {

class Warp;
struct Instruction;

// One bit a lane.
using Mask = uint32_t;
constexpr int LANES = 32;
constexpr Mask ALL = ~Mask(0);

// Does what the instruction says for the lanes of the mask, which is not empty.
using Handler = void (*)(Warp &, const Instruction &, Mask);

// Where a value of all lanes lies: bytes into the warp's registers or, with the top bit, into the kernel's constants.
// Lanes lie side by side, in 2, 4 or 8 bytes each; a predicate is one Mask.
using Ref = uint32_t;
constexpr Ref CONSTANT = Ref(1) << 31;
constexpr Ref NONE = ~Ref(0);

enum class Kind : uint8_t {
  PLAIN,      // the handler does it all
  COLLECTIVE, // likewise, once all lanes of the mask in `members` have arrived (NONE: of all lanes)
  JUMP,       // to `target`, of the lanes that the guard admits
  SWITCH,     // to targets[imm][r[0]]
  BARRIER,    // r[0]: result of bar.red; r[1]: number; r[2]: threads, 0 for all; r[3]: predicate; imm: BarrierFlavour
  EXIT,
  TRAP,
};

// The order is that of the names in decode.cpp.
enum Special {
  TID_X,
  TID_Y,
  TID_Z,
  NTID_X,
  NTID_Y,
  NTID_Z,
  CTAID_X,
  CTAID_Y,
  CTAID_Z,
  NCTAID_X,
  NCTAID_Y,
  NCTAID_Z,
  LANEID,
  WARPID,
  NWARPID,
  LANEMASK_EQ,
  LANEMASK_LT,
  LANEMASK_LE,
  LANEMASK_GT,
  LANEMASK_GE,
  SMID,
  NSMID,
  GRIDID,
  DYNAMIC_SMEM_SIZE,
  TOTAL_SMEM_SIZE,
  SPECIALS
};

enum BarrierFlavour { BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_POPC, BARRIER_AND, BARRIER_OR };

struct Instruction {
  Handler run = nullptr;
  Kind kind = Kind::PLAIN;
  uint8_t bytes = 0;     // of memory: an element
  uint8_t count = 1;     // of memory: elements; of matrices: how many
  uint8_t width = 0;     // of memory: a lane of the registers of an element
  uint8_t space = 0;     // of memory
  bool readOnly = false; // of memory: ld.global.nc, for what nobody writes during the launch
  bool narrow = false;   // of memory: the address is a register of 32 bits
  bool guardNegated = false;
  Ref guard = NONE;
  Ref members = NONE;
  uint8_t defined = 0, operands = 0; // of r: written, and all
  uint32_t list = 0;                 // of the kernel's: more registers, where r is too short
  uint32_t target = 0;
  int32_t line = 0;
  int64_t imm = 0; // offset of an address; what else a handler needs
  std::array<Ref, 14> r = {};
};

struct Kernel {
  std::string name;
  std::vector<Instruction> code;
  std::vector<std::vector<uint32_t>> targets; // of SWITCH, by imm
  std::vector<std::vector<Ref>> lists;        // by Instruction::list
  bool warpgroups = false;                    // has instructions of warpgroups
  std::vector<uint8_t> constants;             // 32 lanes each
  int64_t registerBytes = 0;                  // of a warp
  int64_t liveRegisters = 0;  // most 32-bit registers alive at once: what a compiler would need at least
  int64_t localBytes = 0;     // of a thread
  int64_t staticShared = 0;   // of a block
  int64_t sharedGranule = 16; // greatest size that divides all accesses to shared memory
  int64_t globalGranule = 16;
  std::vector<int64_t> parameterOffset, parameterBytes;
  int64_t parameterSpace = 0;
  std::vector<std::pair<int, Ref>> specials; // special registers in use, and where they lie
  int64_t maxThreads = 1024, requiredThreads = 0;
  std::map<int64_t, std::string> sharedNames; // by offset
};

} // namespace simt
