// From PTX as a tree to what the machine runs. What is not known here is an error that names the line.
#pragma once
#include "../machine/kernel.h"
#include "../ptx/ptx.h"
#include <functional>

namespace simt {

// Where a module's variables of device memory were put; code refers to them by address.
using Symbols = std::map<std::string, uint64_t>;

Kernel decode(const ptx::Module &, const ptx::Function &, const Symbols &);

enum class Type {
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16X2,
  BF16,
  BF16X2,
  F32,
  F64,
  TF32,
  PRED
};

int bytesOf(Type); // of a lane; a predicate has none
bool isSigned(Type);
bool isFloat(Type);
bool isInteger(Type); // bits too

// The modifiers of an opcode. Each must be taken by somebody.
class Modifiers {
public:
  Modifiers(const ptx::Instruction &of) : of(of), at(1) {}
  bool take(std::string_view word); // if it is next
  bool takeAny(std::initializer_list<std::string_view> words, std::string *which = nullptr);
  bool peek(std::string_view word) const { return at < of.opcode.size() && of.opcode[at] == word; }
  Type type(); // the next one must be a type
  void done(); // all taken, else an error
  [[noreturn]] void unknown() const;

private:
  const ptx::Instruction &of;
  size_t at;
};

class Decoder {
public:
  Decoder(const ptx::Module &, const ptx::Function &, const Symbols &);
  Kernel run();

  // The instruction at hand.
  const ptx::Instruction *source = nullptr;
  [[noreturn]] void error(const std::string &what) const;
  void needs(int architecture) const; // an error where the module's .target is older
  void expectOperands(size_t least, size_t most) const;
  void expectOperands(size_t count) const { expectOperands(count, count); }
  const ptx::Operand &operand(size_t i) const { return source->operands[i]; }

  // Places of operands: of the given size, or of that of the register itself.
  Ref define(const ptx::Operand &, int bytes);
  Ref use(const ptx::Operand &, int bytes);
  Ref definePredicate(const ptx::Operand &);
  Ref usePredicate(const ptx::Operand &);        // with ! if need be
  int registerBytes(const ptx::Operand &) const; // 0: no register
  bool isPredicate(const ptx::Operand &) const;
  Ref temporary(int bytes);
  Ref constant(uint64_t value, int bytes);

  // Appends; what is written stands before what is read in Instruction::r.
  Instruction &emit(Handler, std::initializer_list<Ref> defined, std::initializer_list<Ref> used);
  Instruction &emit(Handler, const std::vector<Ref> &defined, const std::vector<Ref> &used);

  // The base of an address operand; sets imm and narrow of the instruction afterwards.
  struct Address {
    Ref base;
    int64_t offset;
    bool narrow;
  };
  Address address(const ptx::Operand &);
  void noteAccess(uint8_t space, int64_t bytes); // for the granules of the checks

  uint64_t symbol(const std::string &name) const; // address in its space
  bool hasSymbol(const std::string &name) const;
  bool isFor(const std::string &target) const; // exactly the module's .target

  // For the instruction appended last: registers beyond those of Instruction::r, and what it is to those who follow the
  // instructions of warpgroups.
  struct More {
    Ref ref;
    bool defined, used;
  };
  enum Role { PLAIN_ROLE, PRODUCT, FENCE, COMMIT, WAIT, WAIT_FOR_ALL };
  void addMore(std::vector<More>, Role);

  Kernel kernel;

private:
  struct Draft {
    Instruction in;
    std::vector<uint8_t> defined, used; // indices of r
    std::string label;                  // of a jump
    std::vector<More> more;
    Role role = PLAIN_ROLE;
  };
  // The blocks of the final order: where each starts, and which may follow.
  struct Flow {
    std::vector<uint32_t> starts;
    std::vector<std::vector<size_t>> next;
    uint32_t endOf(size_t block, size_t end) const {
      return block + 1 < starts.size() ? starts[block + 1] : (uint32_t)end;
    }
  };
  Flow flowOf() const;
  void followWarpgroups(); // warpgroup.cpp
  void layOutMemory();
  void body();
  void instruction(const ptx::Instruction &);
  void control(const ptx::Instruction &);
  void order();
  void allocate();

  const ptx::Module &module;
  const ptx::Function &function;
  const Symbols &globals;
  std::map<std::string, uint64_t> local; // shared, local and parameters, by name
  std::map<std::string, Ref> registers;  // name -> virtual register
  std::vector<int> sizes;                // of virtual registers: 2, 4, 8; predicates 1
  std::map<std::pair<uint64_t, int>, Ref> constants;
  std::map<int, Ref> specials;
  std::vector<Draft> drafts;
  std::map<std::string, uint32_t> labels; // -> draft
  std::vector<std::vector<std::string>> tables;
};

// The groups of instructions by their first word.
using Decode = void (*)(Decoder &, Modifiers);
using Table = std::map<std::string, Decode>;
void addInteger(Table &);
void addFloat(Table &);
void addConvert(Table &);
void addMove(Table &);
void addMemory(Table &);
void addWarp(Table &);
void addMatrix(Table &);
void addWarpgroup(Table &);

} // namespace simt
