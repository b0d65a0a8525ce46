#include "decode.h"
#include "../machine/warp.h"
#include <algorithm>
#include <cstdlib>

namespace simt {

static const std::pair<const char *, Type> TYPES[] = {
    {"b8", Type::B8},         {"b16", Type::B16}, {"b32", Type::B32}, {"b64", Type::B64},     {"u8", Type::U8},
    {"u16", Type::U16},       {"u32", Type::U32}, {"u64", Type::U64}, {"s8", Type::S8},       {"s16", Type::S16},
    {"s32", Type::S32},       {"s64", Type::S64}, {"f16", Type::F16}, {"f16x2", Type::F16X2}, {"bf16", Type::BF16},
    {"bf16x2", Type::BF16X2}, {"f32", Type::F32}, {"f64", Type::F64}, {"tf32", Type::TF32},   {"pred", Type::PRED}};

int bytesOf(Type type) {
  switch (type) {
  case Type::B8:
  case Type::U8:
  case Type::S8:
    return 1;
  case Type::B16:
  case Type::U16:
  case Type::S16:
  case Type::F16:
  case Type::BF16:
    return 2;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
    return 8;
  case Type::PRED:
    return 0;
  default:
    return 4;
  }
}
bool isSigned(Type type) { return type == Type::S8 || type == Type::S16 || type == Type::S32 || type == Type::S64; }
bool isFloat(Type type) { return type >= Type::F16 && type <= Type::TF32; }
bool isInteger(Type type) { return type < Type::F16; }

bool Modifiers::take(std::string_view word) {
  if (!peek(word))
    return false;
  ++at;
  return true;
}

bool Modifiers::takeAny(std::initializer_list<std::string_view> words, std::string *which) {
  for (const std::string_view word : words)
    if (take(word)) {
      if (which)
        *which = word;
      return true;
    }
  return false;
}

void Modifiers::unknown() const {
  std::string text;
  for (const std::string &word : of.opcode)
    text += (text.empty() ? "" : ".") + word;
  throw ptx::Error(of.line, "'" + text + "' is not emulated" +
                                (at < of.opcode.size() ? ": at '." + of.opcode[at] + "'" : ": a modifier is missing"));
}

Type Modifiers::type() {
  if (at < of.opcode.size())
    for (const auto &[name, type] : TYPES)
      if (of.opcode[at] == name) {
        ++at;
        return type;
      }
  unknown();
}

void Modifiers::done() {
  if (at != of.opcode.size())
    unknown();
}

Decoder::Decoder(const ptx::Module &module, const ptx::Function &function, const Symbols &globals)
    : module(module), function(function), globals(globals) {}

Kernel decode(const ptx::Module &module, const ptx::Function &function, const Symbols &globals) {
  return Decoder(module, function, globals).run();
}

void Decoder::error(const std::string &what) const { throw ptx::Error(source ? source->line : function.line, what); }

void Decoder::needs(int architecture) const {
  if (std::atoi(module.target.c_str() + 3) >= architecture)
    return;
  std::string text;
  for (const std::string &word : source->opcode)
    text += (text.empty() ? "" : ".") + word;
  error("'" + text + "' needs .target sm_" + std::to_string(architecture) + ", found " + module.target);
}

void Decoder::expectOperands(size_t least, size_t most) const {
  const size_t found = source->operands.size();
  if (found < least || found > most)
    error("'" + source->opcode[0] + "' with " + std::to_string(found) + " operands, expected " + std::to_string(least) +
          (most > least ? " to " + std::to_string(most) : ""));
}

static int64_t alignUp(int64_t value, int64_t align) { return (value + align - 1) / align * align; }

void Decoder::layOutMemory() {
  for (const ptx::Variable &parameter : function.parameters) {
    const int64_t at = alignUp(kernel.parameterSpace, parameter.align);
    kernel.parameterOffset.push_back(at);
    kernel.parameterBytes.push_back(parameter.bytes);
    kernel.parameterSpace = at + parameter.bytes;
    local[parameter.name] = at;
  }
  const auto place = [&](const ptx::Variable &variable) {
    int64_t &end = variable.space == "local" ? kernel.localBytes : kernel.staticShared;
    const int64_t at = alignUp(end, variable.align);
    local[variable.name] = at;
    end = at + variable.bytes;
  };
  // Static shared memory first, also what the module declares, then the dynamic part.
  for (const ptx::Variable &variable : module.variables)
    if (variable.space == "shared" && !variable.external)
      place(variable);
  for (const ptx::Variable &variable : function.variables)
    place(variable);
  kernel.localBytes = alignUp(kernel.localBytes, 16);
  bool dynamic = false;
  for (const ptx::Variable &variable : module.variables)
    dynamic |= variable.space == "shared" && variable.external;
  if (dynamic)
    kernel.staticShared = alignUp(kernel.staticShared, kernel.staticShared ? 128 : 1);
  for (const ptx::Variable &variable : module.variables)
    if (variable.space == "shared" && variable.external)
      local[variable.name] = kernel.staticShared;
}

bool Decoder::hasSymbol(const std::string &name) const { return local.contains(name) || globals.contains(name); }

bool Decoder::isFor(const std::string &target) const { return module.target == target; }

void Decoder::addMore(std::vector<More> more, Role role) {
  drafts.back().more = std::move(more);
  drafts.back().role = role;
}

uint64_t Decoder::symbol(const std::string &name) const {
  if (const auto found = local.find(name); found != local.end())
    return found->second;
  if (const auto found = globals.find(name); found != globals.end())
    return found->second;
  error("'" + name + "' is not declared");
}

Kernel Decoder::run() {
  kernel.name = function.name;
  if (function.maxThreads)
    kernel.maxThreads = function.maxThreads;
  kernel.requiredThreads = function.requiredThreads;
  layOutMemory();
  for (const auto &[name, type] : function.registers) {
    registers[name] = (Ref)sizes.size();
    sizes.push_back(type == "pred" ? 1 : std::max<int64_t>(2, ptx::bytesOfType(type)));
    if (sizes.back() > 8)
      error("registers of type ." + type + " are not emulated");
  }
  body();
  order();
  followWarpgroups();
  allocate();
  return std::move(kernel);
}

void Decoder::body() {
  std::map<size_t, std::vector<std::string>> labelsAt;
  for (const auto &[label, index] : function.labels)
    labelsAt[index].push_back(label);
  for (size_t i = 0; i <= function.body.size(); ++i) {
    if (const auto found = labelsAt.find(i); found != labelsAt.end())
      for (const std::string &label : found->second)
        labels[label] = (uint32_t)drafts.size();
    if (i == function.body.size())
      break;
    source = &function.body[i];
    const size_t before = drafts.size();
    instruction(*source);
    // The guard holds for all that an instruction became; what goes to temporaries may be done without.
    if (!source->guard.empty()) {
      const auto found = registers.find(source->guard);
      if (sizes[found->second] != 1)
        error("the guard '" + source->guard + "' is no predicate");
      for (size_t k = before; k < drafts.size(); ++k) {
        drafts[k].in.guard = found->second;
        drafts[k].in.guardNegated = source->guardNegated;
      }
    }
  }
  // A function that ends without ret.
  source = nullptr;
  emit(nullptr, {}, {}).kind = Kind::EXIT;
}

static const Table &table() {
  static const Table all = [] {
    Table result;
    addInteger(result);
    addFloat(result);
    addConvert(result);
    addMove(result);
    addMemory(result);
    addWarp(result);
    addMatrix(result);
    addWarpgroup(result);
    return result;
  }();
  return all;
}

void Decoder::instruction(const ptx::Instruction &in) {
  const std::string &name = in.opcode[0];
  if (name == "bra" || name == "brx" || name == "ret" || name == "exit" || name == "trap")
    return control(in);
  const auto found = table().find(name);
  if (found == table().end())
    error("the instruction '" + name + "' is not emulated");
  found->second(*this, Modifiers(in));
}

void Decoder::control(const ptx::Instruction &in) {
  Modifiers words(in);
  const std::string &name = in.opcode[0];
  if (name == "bra") {
    words.take("uni");
    words.done();
    expectOperands(1);
    if (!function.labels.contains(operand(0).name))
      error("the label '" + operand(0).name + "' does not exist");
    emit(nullptr, {}, {}).kind = Kind::JUMP;
    drafts.back().label = operand(0).name;
  } else if (name == "brx") {
    if (!words.take("idx"))
      words.unknown();
    words.take("uni");
    words.done();
    expectOperands(2);
    const auto found = function.branchTargets.find(operand(1).name);
    if (found == function.branchTargets.end())
      error("'" + operand(1).name + "' is no list of branch targets");
    Instruction &jump = emit(nullptr, {}, {use(operand(0), 4)});
    jump.kind = Kind::SWITCH;
    jump.imm = tables.size();
    tables.push_back(found->second);
  } else {
    words.take("uni");
    words.done();
    expectOperands(0);
    emit(nullptr, {}, {}).kind = name == "trap" ? Kind::TRAP : Kind::EXIT;
  }
}

Ref Decoder::temporary(int bytes) {
  sizes.push_back(bytes);
  return (Ref)sizes.size() - 1;
}

Ref Decoder::constant(uint64_t value, int bytes) {
  if (bytes < 8)
    value &= (uint64_t(1) << 8 * bytes) - 1;
  const auto [found, fresh] = constants.emplace(std::pair(value, bytes), 0);
  if (fresh) {
    const size_t at = (kernel.constants.size() + 63) / 64 * 64;
    kernel.constants.resize(at + LANES * bytes);
    for (int lane = 0; lane < LANES; ++lane)
      std::memcpy(kernel.constants.data() + at + lane * bytes, &value, bytes);
    found->second = CONSTANT | (Ref)at;
  }
  return found->second;
}

static int specialOf(const std::string &name) {
  static const char *const NAMES[] = {
      "%tid.x",          "%tid.y",       "%tid.z",   "%ntid.x",      "%ntid.y",      "%ntid.z",
      "%ctaid.x",        "%ctaid.y",     "%ctaid.z", "%nctaid.x",    "%nctaid.y",    "%nctaid.z",
      "%laneid",         "%warpid",      "%nwarpid", "%lanemask_eq", "%lanemask_lt", "%lanemask_le",
      "%lanemask_gt",    "%lanemask_ge", "%smid",    "%nsmid",       "%gridid",      "%dynamic_smem_size",
      "%total_smem_size"};
  static_assert(std::size(NAMES) == SPECIALS);
  for (int i = 0; i < SPECIALS; ++i)
    if (name == NAMES[i])
      return i;
  return -1;
}

int Decoder::registerBytes(const ptx::Operand &operand) const {
  if (operand.kind != ptx::Operand::NAME)
    return 0;
  if (const auto found = registers.find(operand.name); found != registers.end())
    return sizes[found->second] == 1 ? 0 : sizes[found->second];
  return specialOf(operand.name) >= 0 ? 4 : 0;
}

bool Decoder::isPredicate(const ptx::Operand &operand) const {
  const auto found = registers.find(operand.name);
  return operand.kind == ptx::Operand::NAME && found != registers.end() && sizes[found->second] == 1;
}

Ref Decoder::define(const ptx::Operand &operand, int bytes) {
  if (operand.kind == ptx::Operand::NAME && operand.name == "_")
    return temporary(bytes);
  const auto found = registers.find(operand.name);
  if (operand.kind != ptx::Operand::NAME || operand.negated || operand.value || found == registers.end())
    error("a register was expected as the place of a result, found '" + operand.name + "'");
  if (sizes[found->second] != bytes)
    error("register '" + operand.name + "' has not " + std::to_string(8 * bytes) + " bits");
  return found->second;
}

Ref Decoder::use(const ptx::Operand &operand, int bytes) {
  switch (operand.kind) {
  case ptx::Operand::INTEGER:
    return constant(operand.value, bytes);
  case ptx::Operand::FLOAT32:
    if (bytes != 4)
      error("a constant of 32 bits where " + std::to_string(8 * bytes) + " were expected");
    return constant(operand.value, 4);
  case ptx::Operand::FLOAT64:
    if (bytes == 8)
      return constant(operand.value, 8);
    if (bytes == 4) // PTX converts
      return constant(std::bit_cast<uint32_t>((float)std::bit_cast<double>(operand.value)), 4);
    error("a constant of 64 bits where " + std::to_string(8 * bytes) + " were expected");
  case ptx::Operand::NAME:
    break;
  default:
    error("a register or a constant was expected");
  }
  if (operand.negated)
    error("'!' before what is no predicate");
  if (const auto found = registers.find(operand.name); found != registers.end()) {
    if (sizes[found->second] != bytes || operand.value)
      error("register '" + operand.name + "' has not " + std::to_string(8 * bytes) + " bits");
    return found->second;
  }
  if (const int special = specialOf(operand.name); special >= 0) {
    const auto [found, fresh] = specials.emplace(special, 0);
    if (fresh)
      found->second = temporary(4);
    if (bytes != 4)
      error("'" + operand.name + "' has not " + std::to_string(8 * bytes) + " bits");
    return found->second;
  }
  if (hasSymbol(operand.name))
    return constant(symbol(operand.name) + operand.value, bytes);
  error("'" + operand.name + "' is not declared");
}

Ref Decoder::definePredicate(const ptx::Operand &operand) {
  if (operand.kind == ptx::Operand::NAME && operand.name == "_")
    return temporary(1);
  if (!isPredicate(operand))
    error("a predicate was expected, found '" + operand.name + "'");
  return registers[operand.name];
}

static void notPredicate(Warp &warp, const Instruction &in, Mask mask) {
  Mask &to = warp.predicate(in.r[0]);
  to = (to & ~mask) | (~warp.predicate(in.r[1]) & mask);
}

Ref Decoder::usePredicate(const ptx::Operand &operand) {
  if (operand.kind == ptx::Operand::INTEGER)
    return constant(operand.value ? ALL : 0, 4);
  if (!isPredicate(operand))
    error("a predicate was expected, found '" + operand.name + "'");
  const Ref found = registers[operand.name];
  if (!operand.negated)
    return found;
  const Ref negated = temporary(1);
  emit(notPredicate, {negated}, {found});
  return negated;
}

Instruction &Decoder::emit(Handler run, std::initializer_list<Ref> defined, std::initializer_list<Ref> used) {
  return emit(run, std::vector<Ref>(defined), std::vector<Ref>(used));
}

Instruction &Decoder::emit(Handler run, const std::vector<Ref> &defined, const std::vector<Ref> &used) {
  Draft draft;
  draft.in.run = run;
  draft.in.line = source ? source->line : function.line;
  uint8_t at = 0;
  if (defined.size() + used.size() > draft.in.r.size())
    error("internal error: too many operands");
  for (const Ref ref : defined) {
    draft.defined.push_back(at);
    draft.in.r[at++] = ref;
  }
  for (const Ref ref : used) {
    draft.used.push_back(at);
    draft.in.r[at++] = ref;
  }
  drafts.push_back(std::move(draft));
  return drafts.back().in;
}

Decoder::Address Decoder::address(const ptx::Operand &operand) {
  if (operand.kind != ptx::Operand::ADDRESS)
    error("an address in brackets was expected");
  if (const auto found = registers.find(operand.name); found != registers.end()) {
    const int size = sizes[found->second];
    if (size != 4 && size != 8)
      error("an address in a register of " + std::to_string(8 * size) + " bits");
    return {found->second, operand.value, size == 4};
  }
  const uint64_t base = operand.name.empty() ? 0 : symbol(operand.name);
  return {constant(base, 8), operand.value, false};
}

void Decoder::noteAccess(uint8_t space, int64_t bytes) {
  if (space == SHARED || space == GENERIC)
    kernel.sharedGranule = std::min(kernel.sharedGranule, bytes);
  if (space == GLOBAL || space == GENERIC || space == CONST)
    kernel.globalGranule = std::min(kernel.globalGranule, bytes);
}

} // namespace simt
