// PTX text as a tree: directives, variables and instructions with their operands, nothing decided yet. What an
// instruction means is the business of machine/decode.
#pragma once
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace simt::ptx {

// What is wrong with the text, and on which line of it.
struct Error : std::runtime_error {
  Error(int line, const std::string &what) : std::runtime_error("line " + std::to_string(line) + ": " + what) {}
};

struct Operand {
  enum Kind { NAME, INTEGER, FLOAT32, FLOAT64, ADDRESS, VECTOR, PAIR };
  Kind kind = NAME;
  std::string name;           // NAME: register, special register, symbol or label. ADDRESS: its base, "" for a number
  int64_t value = 0;          // INTEGER, the bits of a FLOAT, what is added to a NAME or the base of an ADDRESS
  bool negated = false;       // !%p
  std::vector<Operand> items; // VECTOR; the two halves of a PAIR (%r1|%p1)
};

struct Instruction {
  int line = 0;
  std::string guard; // "" or a predicate register
  bool guardNegated = false;
  std::vector<std::string> opcode; // "ld", "global", "v4", "b32"
  std::vector<Operand> operands;
};

struct Variable {
  int line = 0;
  std::string name, space; // "global", "const", "shared", "local", "param"
  int64_t align = 1, bytes = 0;
  bool external = false; // of unknown size: the dynamic shared memory
  std::vector<uint8_t> initial;
};

struct Register {
  std::string name, type;
};

struct Function {
  int line = 0;
  std::string name;
  std::vector<Variable> parameters;             // in order
  std::vector<Variable> variables;              // shared and local ones declared inside
  std::map<std::string, std::string> registers; // name -> type
  std::map<std::string, size_t> labels;         // -> index of the instruction that follows
  std::map<std::string, std::vector<std::string>> branchTargets;
  std::vector<Instruction> body;
  int64_t maxThreads = 0, requiredThreads = 0; // .maxntid, .reqntid; 0 when not said
};

struct Module {
  int version = 0;    // 75 for 7.5
  std::string target; // "sm_80"
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

int64_t bytesOfType(std::string_view type); // "b32" -> 4; 0 for what is no type of data

Module parse(std::string_view text);

} // namespace simt::ptx
