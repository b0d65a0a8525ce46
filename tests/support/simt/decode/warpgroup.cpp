// Matrices of a warpgroup: four warps of a block multiply together, by an instruction that reads shared memory and adds
// to registers after it was issued. Layouts are those of the PTX manual, chapter "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate Instructions"; nothing here is shared with the compiler. bf16 with sums in f32 alone.
#include "../driver_codes.h"
#include "../machine/block.h"
#include "handlers.h"
#include "small_float.h"
#include <cstdio>

namespace simt {
namespace {

constexpr int DEPTH = 16, ROWS_OF_WARP = 16;

// imm of a product.
constexpr int64_t LEFT_IN_MEMORY = 1, LEFT_TRANSPOSED = 2, RIGHT_TRANSPOSED = 4, LEFT_NEGATED = 8, RIGHT_NEGATED = 16;

// A matrix in shared memory: `lines` rows of the left side or columns of the right one, by DEPTH. Sixteen bytes are the
// smallest part: 8 elements along the depth, or along the lines where the matrix is transposed.
struct Description {
  uint64_t start, leading, stride;
  int swizzle; // 0: none, 1: 128 bytes, 2: 64, 3: 32

  Description(uint64_t bits)
      : start((bits & 0x3fff) << 4), leading((bits >> 16 & 0x3fff) << 4), stride((bits >> 32 & 0x3fff) << 4),
        swizzle(int(bits >> 62)) {
    if (bits >> 49 & 7)
      throw Fault{LAUNCH_FAILED, "a base offset in the description of a matrix of wgmma is not emulated", 0};
    if (const int bytes = width(); bytes && start >> 7 & (bytes / 16 - 1))
      throw Fault{LAUNCH_FAILED,
                  "a matrix of wgmma with a swizzle of " + std::to_string(bytes) +
                      " bytes starts within the pattern, which repeats every " + std::to_string(8 * bytes) + " bytes",
                  0};
  }
  int width() const { return swizzle == 0 ? 0 : 256 >> swizzle; }

  // Where the part lies that holds element (line, depth).
  uint64_t partOf(int line, int depth, bool transposed) const {
    const int bytes = width();
    uint64_t at = start;
    if (!transposed)
      at += bytes ? line / 8 * stride + line % 8 * bytes + depth / 8 * 16
                  : line / 8 * stride + depth / 8 * leading + line % 8 * 16;
    else
      at += bytes ? line / (bytes / 2) * leading + depth / 8 * stride + depth % 8 * bytes + line % (bytes / 2) / 8 * 16
                  : line / 8 * stride + depth / 8 * leading + depth % 8 * 16;
    // The pattern goes by the address: its bits from 7 on are added to those from 4 on, without carry.
    return bytes ? at ^ ((at >> 7 & (bytes / 16 - 1)) << 4) : at;
  }
};

// Reads `lines` lines from `first` on into to[depth * pitch + line]; notes the cells in `cells`.
void readMatrix(Warp &warp, const char *side, uint64_t bits, int first, int lines, bool transposed, float *to,
                int pitch, std::vector<uint32_t> &cells) {
  Block &block = *warp.block;
  const Description matrix(bits);
  std::vector<uint64_t> parts;
  std::vector<std::pair<int, int>> origin;
  for (int line = 0; line < lines; line += transposed ? 8 : 1)
    for (int depth = 0; depth < DEPTH; depth += transposed ? 1 : 8) {
      parts.push_back(matrix.partOf(first + line, depth, transposed));
      origin.emplace_back(line, depth);
    }
  const auto fault = [&](uint64_t at, const std::string &why, int code = LAUNCH_FAILED) {
    char place[32];
    std::snprintf(place, sizeof place, "0x%llx", (unsigned long long)at);
    return Fault{code, std::string("wgmma reads its ") + side + " side in shared memory at " + place + ": " + why, 0};
  };
  for (const uint64_t at : parts) {
    if (at + 16 > (uint64_t)block.sharedBytes)
      throw fault(at, "out of bounds, there are " + std::to_string(block.sharedBytes) + " bytes", ILLEGAL_ADDRESS);
    if (const int thread = block.async.unfenced(at, 16); thread >= 0)
      throw fault(at, "no fence.proxy.async after the write of " + block.nameThread(thread));
    for (uint64_t cell = at / AsyncProxy::CELL; cell < (at + 16) / AsyncProxy::CELL; ++cell)
      cells.push_back((uint32_t)cell);
  }
  for (size_t i = 0; i < parts.size(); i += LANES) {
    const size_t count = std::min<size_t>(LANES, parts.size() - i);
    const SharedCheck::Report report =
        block.check.read(parts.data() + i, count == LANES ? ALL : (Mask(1) << count) - 1, 16, warp.thread(0));
    const std::string other = block.nameThread(report.other & TAG_THREAD);
    switch (report.finding) {
    case SharedCheck::FINE:
      break;
    case SharedCheck::UNINITIALISED:
      throw fault(parts[i + report.lane], "uninitialised, nothing was written there");
    case SharedCheck::PENDING:
      throw fault(parts[i + report.lane], "race with the cp.async of " + other + ", which nobody has waited for");
    default:
      throw fault(parts[i + report.lane], "race with the write of " + other + ", no barrier stands between them");
    }
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    uint16_t elements[8];
    std::memcpy(elements, block.shared.data() + parts[i], sizeof elements);
    const auto [line, depth] = origin[i];
    for (int k = 0; k < 8; ++k)
      to[(transposed ? depth : depth + k) * pitch + (transposed ? line + k : line)] = fromBf16(elements[k]);
  }
}

uint64_t uniform(Warp &warp, Ref ref) {
  const uint64_t *const values = warp.at<uint64_t>(ref);
  for (int lane = 1; lane < LANES; ++lane)
    if (values[lane] != values[0])
      throw Fault{LAUNCH_FAILED, "lanes describe a matrix of wgmma differently", lane};
  return values[0];
}

// r: description of the left side or none, of the right side; predicate. The list: sums, then registers of the left
// side. Columns are twice the sums of a lane.
void multiply(Warp &warp, const Instruction &in, Mask mask) {
  Block &block = *warp.block;
  AsyncProxy &async = block.async;
  if (mask != ALL || block.warps.size() % 4)
    throw Fault{LAUNCH_FAILED, "wgmma needs whole warpgroups: four warps of 32 threads", 0};
  const bool leftInMemory = in.imm & LEFT_IN_MEMORY;
  const uint64_t left = leftInMemory ? uniform(warp, in.r[0]) : 0, right = uniform(warp, in.r[1]);
  const Mask adds = warp.predicate(in.r[2]);
  if (adds != 0 && adds != ALL)
    throw Fault{LAUNCH_FAILED, "lanes differ in whether wgmma adds to its sums", 0};
  AsyncProxy::OfWarp &own = async.warps[warp.index];
  std::vector<AsyncProxy::Step> &steps = async.steps[warp.index / 4];
  const AsyncProxy::Step step = {&in, left, right};
  if (own.count < steps.size() && !(steps[own.count] == step))
    throw Fault{LAUNCH_FAILED,
                "warps of a warpgroup come to different wgmma or describe matrices differently, one of them on line " +
                    std::to_string(steps[own.count].in->line),
                0};
  if (own.count == steps.size())
    steps.push_back(step);
  ++own.count;

  const std::vector<Ref> &list = block.kernel->lists[in.list];
  const int sums = in.count, columns = 2 * sums;
  for (size_t i = 0; i < list.size(); ++i)
    if ((int)i >= sums && own.busy[list[i] / 64] == AsyncProxy::BUSY_SUM)
      throw Fault{LAUNCH_FAILED, "wgmma reads registers that another one adds to: nobody has waited for it", 0};
  for (int i = 0; i < sums; ++i)
    if (own.busy[list[i] / 64] == AsyncProxy::BUSY_LEFT)
      throw Fault{LAUNCH_FAILED, "wgmma adds to registers that another one may still read", 0};

  AsyncProxy::Product product = {own.group, &in, {}};
  float a[DEPTH * ROWS_OF_WARP], b[DEPTH * 256], c[256 * ROWS_OF_WARP];
  const int firstRow = warp.index % 4 * ROWS_OF_WARP;
  if (leftInMemory) {
    readMatrix(warp, "left", left, firstRow, ROWS_OF_WARP, in.imm & LEFT_TRANSPOSED, a, ROWS_OF_WARP, product.cells);
  } else {
    // Register i of lane 4 g + t: the pair 2 t + 8 (i / 2) of row g + 8 (i mod 2).
    for (int i = 0; i < 4; ++i) {
      const uint32_t *const words = warp.at<uint32_t>(list[sums + i]);
      for (int lane = 0; lane < LANES; ++lane)
        for (int half = 0; half < 2; ++half)
          a[(lane % 4 * 2 + half + i / 2 * 8) * ROWS_OF_WARP + lane / 4 + i % 2 * 8] =
              fromBf16(uint16_t(words[lane] >> 16 * half));
    }
  }
  readMatrix(warp, "right", right, 0, columns, in.imm & RIGHT_TRANSPOSED, b, 256, product.cells);
  // Sum i of lane 4 g + t: row g + 8 (i / 2 mod 2), column 8 (i / 4) + 2 t + i mod 2.
  const auto placeOf = [](int lane, int i) {
    return (i / 4 * 8 + lane % 4 * 2 + i % 2) * ROWS_OF_WARP + lane / 4 + i / 2 % 2 * 8;
  };
  for (int i = 0; i < sums; ++i) {
    const float *const values = warp.at<float>(list[i]);
    for (int lane = 0; lane < LANES; ++lane)
      c[placeOf(lane, i)] = adds ? values[lane] : 0;
  }
  const float sign = ((in.imm & LEFT_NEGATED) != 0) != ((in.imm & RIGHT_NEGATED) != 0) ? -1.f : 1.f;
  for (int column = 0; column < columns; ++column) {
    float total[ROWS_OF_WARP];
    std::memcpy(total, c + column * ROWS_OF_WARP, sizeof total);
    for (int k = 0; k < DEPTH; ++k)
      for (int row = 0; row < ROWS_OF_WARP; ++row)
        total[row] = __builtin_fmaf(a[k * ROWS_OF_WARP + row], sign * b[k * 256 + column], total[row]);
    std::memcpy(c + column * ROWS_OF_WARP, total, sizeof total);
  }
  for (int i = 0; i < sums; ++i) {
    float *const values = warp.at<float>(list[i]);
    for (int lane = 0; lane < LANES; ++lane)
      values[lane] = c[placeOf(lane, i)];
  }
  async.start(*block.kernel, warp.index, std::move(product));
}

void commit(Warp &warp, const Instruction &, Mask) { ++warp.block->async.warps[warp.index].group; }

void wait(Warp &warp, const Instruction &in, Mask) {
  warp.block->async.wait(*warp.block->kernel, warp.index, (uint32_t)in.imm);
}

void nothing(Warp &, const Instruction &, Mask) {}

int64_t constantOf(Decoder &to, size_t operand, std::initializer_list<int64_t> allowed, const char *what) {
  const ptx::Operand &found = to.operand(operand);
  if (found.kind != ptx::Operand::INTEGER || std::find(allowed.begin(), allowed.end(), found.value) == allowed.end())
    to.error(std::string(what) + " of wgmma is a constant, one of few");
  return found.value;
}

void product(Decoder &to, Modifiers words) {
  if (words.peek("sp"))
    to.error("sparse matrices of wgmma are not emulated");
  if (!words.take("sync") || !words.take("aligned"))
    words.unknown();
  const std::string shape = to.source->opcode.size() > 4 ? to.source->opcode[4] : "";
  int columns = 0, used = 0;
  if (std::sscanf(shape.c_str(), "m64n%dk%n", &columns, &used) != 1 || columns < 8 || columns > 256 || columns % 8)
    words.unknown();
  words.take(shape);
  if (!words.take("f32") || !words.take("bf16") || !words.take("bf16") || shape.substr(used) != "16")
    to.error("wgmma of other types than f32.bf16.bf16 is not emulated");
  words.done();
  const auto items = [](const ptx::Operand &list) {
    return list.kind == ptx::Operand::VECTOR ? list.items : std::vector{list};
  };
  const std::vector<ptx::Operand> sums = items(to.operand(0));
  if ((int)sums.size() != columns / 2)
    to.error(std::to_string(sums.size()) + " sums of wgmma, expected " + std::to_string(columns / 2));
  const bool leftInMemory = to.operand(1).kind != ptx::Operand::VECTOR;
  to.expectOperands(leftInMemory ? 8 : 7);
  int64_t flags = leftInMemory ? LEFT_IN_MEMORY : 0;
  flags |= constantOf(to, 4, {1, -1}, "the left side's sign") < 0 ? LEFT_NEGATED : 0;
  flags |= constantOf(to, 5, {1, -1}, "the right side's sign") < 0 ? RIGHT_NEGATED : 0;
  if (leftInMemory)
    flags |= constantOf(to, 6, {0, 1}, "the left side's order") ? LEFT_TRANSPOSED : 0;
  flags |= constantOf(to, leftInMemory ? 7 : 6, {0, 1}, "the right side's order") ? RIGHT_TRANSPOSED : 0;
  std::vector<Decoder::More> more;
  for (const ptx::Operand &sum : sums)
    more.push_back({to.define(sum, 4), true, true});
  if (!leftInMemory) {
    const std::vector<ptx::Operand> left = items(to.operand(1));
    if (left.size() != 4)
      to.error(std::to_string(left.size()) + " registers of the left side of wgmma, expected 4");
    for (const ptx::Operand &item : left) {
      const Ref ref = to.use(item, 4);
      if (ref & CONSTANT)
        to.error("the left side of wgmma lies in registers");
      more.push_back({ref, false, true});
    }
  }
  const Ref left = leftInMemory ? to.use(to.operand(1), 8) : to.constant(0, 8), right = to.use(to.operand(2), 8),
            adds = to.usePredicate(to.operand(3));
  Instruction &in = to.emit(multiply, {}, {left, right, adds});
  in.kind = Kind::COLLECTIVE;
  in.imm = flags;
  in.count = (uint8_t)(columns / 2);
  to.addMore(std::move(more), Decoder::PRODUCT);
  to.kernel.warpgroups = true;
  to.noteAccess(SHARED, 16);
}

void wgmma(Decoder &to, Modifiers words) {
  to.needs(90);
  if (!to.isFor("sm_90a"))
    to.error("wgmma needs .target sm_90a");
  std::string what;
  if (!words.takeAny({"mma_async", "fence", "commit_group", "wait_group"}, &what))
    words.unknown();
  if (what == "mma_async")
    return product(to, words);
  if (!words.take("sync") || !words.take("aligned"))
    words.unknown();
  words.done();
  to.expectOperands(what == "wait_group");
  to.kernel.warpgroups = true;
  Instruction &in = to.emit(what == "fence" ? nothing : what == "commit_group" ? commit : wait, {}, {});
  in.kind = Kind::COLLECTIVE;
  if (what == "wait_group") {
    if (to.operand(0).kind != ptx::Operand::INTEGER || to.operand(0).value < 0)
      to.error("wgmma.wait_group needs a constant");
    in.imm = to.operand(0).value;
    to.addMore({}, in.imm == 0 ? Decoder::WAIT_FOR_ALL : Decoder::WAIT);
  } else {
    to.addMore({}, what == "fence" ? Decoder::FENCE : Decoder::COMMIT);
  }
}

} // namespace

// Follows what may be on any way to each instruction: registers written since the last wgmma.fence, which wgmma must
// not touch; and those of products that nobody has waited for, whose places stay theirs until then.
void Decoder::followWarpgroups() {
  if (!kernel.warpgroups)
    return;
  const size_t count = sizes.size();
  struct State {
    std::vector<bool> dirty, busy, open; // open: busy, and committed to no group yet
  };
  const Flow flow = flowOf();
  const std::vector<bool> none(count, false);
  std::vector<State> before(flow.starts.size(), {none, none, none});
  std::vector<bool> reached(flow.starts.size(), false);
  before[0].dirty.assign(count, true);
  reached[0] = true;
  const auto step = [&](State &state, Draft &draft, bool last) {
    const auto real = [](Ref ref) { return ref != NONE && !(ref & CONSTANT); };
    if (draft.role == FENCE && draft.in.guard == NONE)
      state.dirty.assign(count, false);
    if (draft.role == PRODUCT)
      for (const More &more : draft.more) {
        if (last && state.dirty[more.ref])
          throw ptx::Error(draft.in.line,
                           "wgmma touches registers that were written after the last wgmma.fence before it");
        state.busy[more.ref] = state.open[more.ref] = true;
      }
    if (draft.role == COMMIT && draft.in.guard == NONE)
      state.open = none;
    if (draft.role == WAIT || draft.role == WAIT_FOR_ALL) {
      if (last)
        for (Ref r = 0; r < count; ++r)
          if (state.busy[r])
            draft.more.push_back({r, false, true});
      if (draft.role == WAIT_FOR_ALL && draft.in.guard == NONE)
        state.busy = state.open;
    }
    for (const uint8_t i : draft.defined)
      if (real(draft.in.r[i]))
        state.dirty[draft.in.r[i]] = true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = 0; b < flow.starts.size(); ++b) {
      if (!reached[b])
        continue;
      State state = before[b];
      for (uint32_t i = flow.starts[b]; i < flow.endOf(b, drafts.size()); ++i)
        step(state, drafts[i], false);
      for (const size_t next : flow.next[b]) {
        State &there = before[next];
        for (Ref r = 0; r < count; ++r) {
          for (auto part : {&State::dirty, &State::busy, &State::open})
            if ((state.*part)[r] && !(there.*part)[r])
              changed = (there.*part)[r] = true;
        }
        changed |= !reached[next];
        reached[next] = true;
      }
    }
  }
  for (size_t b = 0; b < flow.starts.size(); ++b)
    if (reached[b]) {
      State state = before[b];
      for (uint32_t i = flow.starts[b]; i < flow.endOf(b, drafts.size()); ++i)
        step(state, drafts[i], true);
    }
}

void addWarpgroup(Table &table) { table["wgmma"] = wgmma; }

} // namespace simt
