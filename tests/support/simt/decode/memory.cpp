// Loads, stores, asynchronous copies, fences.
#include "../driver_codes.h"
#include "../machine/block.h"
#include "handlers.h"

namespace simt {
namespace {

// E: an element of memory, R: of a register; a signed E is extended.
template <class E, class R> void load(Warp &warp, const Instruction &in, Mask mask) {
  uint8_t *from[LANES];
  warp.resolve(in, in.r[in.count], mask, sizeof(E) * in.count, false, from);
  for (int k = 0; k < in.count; ++k) {
    R *const d = warp.at<R>(in.r[k]);
    forLanes(mask, [&](int i) {
      E value;
      std::memcpy(&value, from[i] + sizeof(E) * k, sizeof(E));
      d[i] = (R)value;
    });
  }
}

template <class E, class R> void store(Warp &warp, const Instruction &in, Mask mask) {
  uint8_t *to[LANES];
  warp.resolve(in, in.r[0], mask, sizeof(E) * in.count, true, to);
  for (int k = 0; k < in.count; ++k) {
    const R *const a = warp.at<R>(in.r[1 + k]);
    forLanes(mask, [&](int i) {
      const E value = (E)a[i];
      std::memcpy(to[i] + sizeof(E) * k, &value, sizeof(E));
    });
  }
}

template <class E> Handler loadTo(int bytes) {
  return bytes == 2 ? load<E, uint16_t> : bytes == 4 ? load<E, uint32_t> : load<E, uint64_t>;
}
Handler loader(Type type, int bytes) {
  switch (type) {
  case Type::B8:
  case Type::U8:
    return loadTo<uint8_t>(bytes);
  case Type::S8:
    return loadTo<int8_t>(bytes);
  case Type::S16:
    return loadTo<int16_t>(bytes);
  case Type::B16:
  case Type::U16:
  case Type::F16:
  case Type::BF16:
    return loadTo<uint16_t>(bytes);
  case Type::S32:
    return bytes == 8 ? load<int32_t, uint64_t> : load<uint32_t, uint32_t>;
  case Type::B64:
  case Type::U64:
  case Type::S64:
  case Type::F64:
    return load<uint64_t, uint64_t>;
  default:
    return bytes == 8 ? load<uint32_t, uint64_t> : load<uint32_t, uint32_t>;
  }
}
template <class E> Handler storeFrom(int bytes) {
  return bytes == 2 ? store<E, uint16_t> : bytes == 4 ? store<E, uint32_t> : store<E, uint64_t>;
}
Handler storer(int element, int bytes) {
  return element == 1   ? storeFrom<uint8_t>(bytes)
         : element == 2 ? storeFrom<uint16_t>(bytes)
         : element == 4 ? (bytes == 8 ? store<uint32_t, uint64_t> : store<uint32_t, uint32_t>)
                        : store<uint64_t, uint64_t>;
}

// Modifiers that say how memory is to be reached, not what happens: order matters little where threads take turns.
void skipHints(Modifiers &words) {
  while (words.takeAny({"volatile",
                        "weak",
                        "relaxed",
                        "acquire",
                        "release",
                        "cta",
                        "cluster",
                        "gpu",
                        "sys",
                        "ca",
                        "cg",
                        "cs",
                        "cv",
                        "lu",
                        "wb",
                        "wt",
                        "nc",
                        "L1::evict_normal",
                        "L1::evict_unchanged",
                        "L1::evict_first",
                        "L1::evict_last",
                        "L1::no_allocate",
                        "L2::evict_normal",
                        "L2::evict_first",
                        "L2::evict_last",
                        "L2::64B",
                        "L2::128B",
                        "L2::256B"})) {
  }
}

Space takeSpace(Modifiers &words) {
  std::string space;
  if (!words.takeAny({"global", "shared", "shared::cta", "local", "param", "param::entry", "const"}, &space))
    return GENERIC;
  return space == "global"             ? GLOBAL
         : space.starts_with("shared") ? SHARED
         : space == "local"            ? LOCAL
         : space == "const"            ? CONST
                                       : PARAM;
}

// What ld and st have in common.
struct Access {
  Space space;
  Type type;
  int count, width;
  std::vector<ptx::Operand> items;
  Decoder::Address address;
};

Access decodeAccess(Decoder &to, Modifiers words, const ptx::Operand &values, const ptx::Operand &place) {
  Access access;
  skipHints(words);
  access.space = takeSpace(words);
  skipHints(words);
  access.count = words.take("v2") ? 2 : words.take("v4") ? 4 : 1;
  access.type = words.type();
  words.done();
  if (access.type == Type::PRED || access.type == Type::F16X2 || access.type == Type::BF16X2 ||
      access.type == Type::TF32)
    words.unknown();
  access.items = values.kind == ptx::Operand::VECTOR ? values.items : std::vector{values};
  if ((int)access.items.size() != access.count)
    to.error("a vector of " + std::to_string(access.items.size()) + " registers, expected " +
             std::to_string(access.count));
  const int element = bytesOf(access.type), bytes = element * access.count;
  if (bytes > 16)
    to.error("an access of " + std::to_string(bytes) + " bytes, at most 16 are possible");
  access.width = std::max(2, element);
  for (const ptx::Operand &item : access.items)
    if (const int found = to.registerBytes(item))
      access.width = found;
  if (access.width < element)
    to.error("a register is too narrow for its type");
  access.address = to.address(place);
  to.noteAccess(access.space, bytes);
  return access;
}

void describe(Instruction &in, const Access &access) {
  in.bytes = (uint8_t)bytesOf(access.type);
  in.count = (uint8_t)access.count;
  in.width = (uint8_t)access.width;
  in.space = access.space;
  in.imm = access.address.offset;
  in.narrow = access.address.narrow;
}

void loads(Decoder &to, Modifiers words) {
  const auto &opcode = to.source->opcode;
  const bool readOnly = std::find(opcode.begin(), opcode.end(), "nc") != opcode.end();
  to.expectOperands(2);
  const Access access = decodeAccess(to, words, to.operand(0), to.operand(1));
  std::vector<Ref> places;
  for (const ptx::Operand &item : access.items)
    places.push_back(to.define(item, access.width));
  Instruction &in = to.emit(loader(access.type, access.width), places, {access.address.base});
  describe(in, access);
  in.readOnly = readOnly;
}

void stores(Decoder &to, Modifiers words) {
  to.expectOperands(2);
  const Access access = decodeAccess(to, words, to.operand(1), to.operand(0));
  if (access.space == PARAM || access.space == CONST)
    to.error("a store to what cannot be written");
  std::vector<Ref> refs = {access.address.base};
  for (const ptx::Operand &item : access.items)
    refs.push_back(to.use(item, access.width));
  describe(to.emit(storer(bytesOf(access.type), access.width), {}, refs), access);
}

// The source is read now, the destination written when somebody waits.
// r: destination, source, bytes to read (or NONE); bytes: of the copy; count: whether the source is narrow.
void copyAsync(Warp &warp, const Instruction &in, Mask mask) {
  Block &block = *warp.block;
  uint8_t *from[LANES] = {};
  const uint32_t *const sizes = warp.at<uint32_t>(in.r[2]);
  Instruction part = in;
  part.r[0] = in.r[1];
  part.space = in.count; // of the source
  part.narrow = false;
  part.imm = in.imm >> 32;
  part.width = 0;
  uint8_t parts[LANES][16] = {};
  Mask whole = 0;
  for (Mask rest = mask; rest; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    if (sizes[i] > in.bytes)
      throw Fault{LAUNCH_FAILED,
                  "cp.async of " + std::to_string(sizes[i]) + " of " + std::to_string(in.bytes) + " bytes", i};
    if (sizes[i] == in.bytes) {
      whole |= Mask(1) << i;
      continue;
    }
    // The rest is filled up with zeros; what is not read may lie anywhere.
    from[i] = parts[i];
    Instruction byte = part;
    for (uint32_t k = 0; k < sizes[i]; ++k, ++byte.imm) {
      uint8_t *at[LANES];
      warp.resolve(byte, byte.r[0], Mask(1) << i, 1, false, at);
      parts[i][k] = *at[i];
    }
  }
  if (whole)
    warp.resolve(part, part.r[0], whole, in.bytes, false, from);
  for (Mask rest = mask; rest; rest &= rest - 1) {
    const int i = std::countr_zero(rest);
    const uint64_t base = in.narrow ? warp.at<uint32_t>(in.r[0])[i] : warp.at<uint64_t>(in.r[0])[i];
    const uint64_t at = base + (uint64_t)(int64_t)(int32_t)in.imm;
    char place[32];
    std::snprintf(place, sizeof place, "0x%llx", (unsigned long long)at);
    if (at % in.bytes)
      throw Fault{MISALIGNED_ADDRESS, std::string("misaligned cp.async to shared memory at ") + place, i};
    if (at >= (uint64_t)block.sharedBytes || at + in.bytes > (uint64_t)block.sharedBytes)
      throw Fault{ILLEGAL_ADDRESS,
                  std::string("out-of-bounds cp.async to shared memory at ") + place + ", which has " +
                      std::to_string(block.sharedBytes) + " bytes",
                  i};
    const SharedCheck::Report report = block.check.write(&at, 1, in.bytes, warp.thread(i), true);
    if (report.finding != SharedCheck::FINE)
      throw Fault{LAUNCH_FAILED,
                  std::string("cp.async to shared memory at ") + place + ": race with the " +
                      (report.finding == SharedCheck::RACE_WITH_READ ? "read"
                       : report.finding == SharedCheck::PENDING      ? "cp.async"
                                                                     : "write") +
                      " of " + block.nameThread(report.other & TAG_THREAD),
                  i};
    if (block.kernel->warpgroups)
      block.async.checkWrite(at, in.bytes, i);
    PendingCopy copy = {at, warp.copyGroup[i], (uint8_t)i, in.bytes, {}};
    std::memcpy(copy.data.data(), from[i], in.bytes);
    warp.copies.push_back(copy);
  }
}

void commitCopies(Warp &warp, const Instruction &, Mask mask) {
  forLanes(mask, [&](int i) { ++warp.copyGroup[i]; });
}

// imm: groups that may stay under way; -1: none, not even what is in no group yet.
void waitForCopies(Warp &warp, const Instruction &in, Mask mask) {
  Block &block = *warp.block;
  std::erase_if(warp.copies, [&](const PendingCopy &copy) {
    if (!(mask >> copy.lane & 1))
      return false;
    if (in.imm >= 0 && (int64_t)copy.group >= (int64_t)warp.copyGroup[copy.lane] - in.imm)
      return false;
    std::memcpy(block.shared.data() + copy.shared, copy.data.data(), copy.bytes);
    block.check.arrived(copy.shared, copy.bytes, warp.thread(copy.lane));
    if (block.kernel->warpgroups)
      block.async.noteWrite(copy.shared, copy.bytes, block.check.order.now(warp.thread(copy.lane)));
    return true;
  });
}

void nothing(Warp &, const Instruction &, Mask) {}

void copies(Decoder &to, Modifiers words) {
  if (!words.take("async"))
    words.unknown();
  if (words.take("commit_group") || words.take("wait_all")) {
    words.done();
    to.expectOperands(0);
    const bool waits = to.source->opcode[2] == "wait_all";
    to.emit(waits ? waitForCopies : commitCopies, {}, {}).imm = -1;
    return;
  }
  if (words.take("wait_group")) {
    words.done();
    to.expectOperands(1);
    if (to.operand(0).kind != ptx::Operand::INTEGER)
      to.error("cp.async.wait_group needs a constant");
    to.emit(waitForCopies, {}, {}).imm = to.operand(0).value;
    return;
  }
  const bool all = words.take("cg"); // past L1, 16 bytes only
  if (!all && !words.take("ca"))
    words.unknown();
  if (!words.takeAny({"shared", "shared::cta"}) || !words.take("global"))
    words.unknown();
  skipHints(words);
  words.done();
  to.expectOperands(3, 4);
  const ptx::Operand &count = to.operand(2);
  if (count.kind != ptx::Operand::INTEGER || !(count.value == 16 || (!all && (count.value == 4 || count.value == 8))))
    to.error("cp.async of a size that does not exist");
  const Decoder::Address d = to.address(to.operand(0)), a = to.address(to.operand(1));
  if (d.offset != (int32_t)d.offset || a.offset != (int32_t)a.offset || a.narrow)
    to.error("cp.async with such an address is not emulated");
  if (to.source->operands.size() == 4 && to.isPredicate(to.operand(3)))
    to.error("cp.async with a predicate is not emulated");
  const Ref bytes = to.source->operands.size() == 4 ? to.use(to.operand(3), 4) : to.constant(count.value, 4);
  to.noteAccess(SHARED, count.value);
  to.noteAccess(GLOBAL, count.value);
  Instruction &in = to.emit(copyAsync, {}, {d.base, a.base, bytes});
  in.bytes = (uint8_t)count.value;
  in.count = GLOBAL;
  in.narrow = d.narrow;
  in.imm = a.offset << 32 | (d.offset & 0xffffffff);
}

// Between what threads write and what instructions of warpgroups read.
void fenceProxy(Warp &warp, const Instruction &, Mask mask) {
  if (warp.block->kernel->warpgroups)
    warp.block->async.fence(*warp.block, warp, mask);
}

// Threads take turns here, so memory is in order already. Of the fences between kinds of access one is known.
void fence(Decoder &to, Modifiers words) {
  const std::string &name = to.source->opcode[0];
  to.expectOperands(name == "nanosleep");
  bool known = false;
  if (name == "nanosleep") {
    known = words.take("u32");
    to.use(to.operand(0), 4);
  } else if (name == "membar") {
    known = words.takeAny({"cta", "gl", "sys"});
  } else {
    if (words.take("proxy")) {
      if (!words.take("async"))
        words.unknown();
      const bool ofShared = !words.take("global");
      if (ofShared)
        words.takeAny({"shared::cta", "shared::cluster"});
      words.done();
      to.needs(90);
      to.emit(ofShared ? fenceProxy : nothing, {}, {});
      return;
    }
    words.takeAny({"sc", "acq_rel"});
    known = words.takeAny({"cta", "cluster", "gpu", "sys"});
  }
  if (!known)
    words.unknown();
  words.done();
  to.emit(nothing, {}, {});
}

void prefetch(Decoder &to, Modifiers words) {
  words.takeAny({"global", "local"});
  if (!words.takeAny({"L1", "L2", "L2::evict_last", "L2::evict_normal"}))
    words.unknown();
  words.done();
  to.expectOperands(1);
  to.address(to.operand(0));
  to.emit(nothing, {}, {});
}

} // namespace

void addMemory(Table &table) {
  table["ld"] = table["ldu"] = loads;
  table["st"] = stores;
  table["cp"] = copies;
  table["fence"] = table["membar"] = table["nanosleep"] = fence;
  table["prefetch"] = prefetch;
}

} // namespace simt
