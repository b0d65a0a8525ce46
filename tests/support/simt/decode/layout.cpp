// The end of decoding: blocks in the order in which diverged threads meet early, registers in as few places as their
// lives allow.
#include "../machine/order.h"
#include "decode.h"
#include <algorithm>
#include <set>

namespace simt {

void Decoder::order() {
  // Blocks begin at labels and after what may jump.
  std::set<uint32_t> begins = {0};
  for (const auto &[label, index] : labels)
    begins.insert(index);
  for (size_t i = 0; i < drafts.size(); ++i)
    if (const Kind kind = drafts[i].in.kind;
        kind == Kind::JUMP || kind == Kind::SWITCH || kind == Kind::EXIT || kind == Kind::TRAP)
      begins.insert((uint32_t)i + 1);
  begins.erase((uint32_t)drafts.size());
  const std::vector<uint32_t> starts(begins.begin(), begins.end());
  const auto blockAt = [&](uint32_t index) {
    return int(std::lower_bound(starts.begin(), starts.end(), index) - starts.begin());
  };
  const int blocks = (int)starts.size();
  const auto endOf = [&](int block) { return block + 1 < blocks ? starts[block + 1] : (uint32_t)drafts.size(); };
  std::vector<std::vector<int>> successors(blocks);
  std::vector<int> after(blocks, -1); // the block that follows where nothing jumps
  for (int block = 0; block < blocks; ++block) {
    const Draft &last = drafts[endOf(block) - 1];
    const bool always = last.in.guard == NONE;
    const Kind kind = last.in.kind;
    if (kind == Kind::JUMP)
      successors[block].push_back(blockAt(labels.at(last.label)));
    if (kind == Kind::SWITCH)
      for (const std::string &target : tables[last.in.imm]) {
        if (!labels.contains(target))
          throw ptx::Error(last.in.line, "the label '" + target + "' does not exist");
        successors[block].push_back(blockAt(labels.at(target)));
      }
    const bool leaves = kind == Kind::JUMP || kind == Kind::SWITCH || kind == Kind::EXIT || kind == Kind::TRAP;
    if (!(leaves && always) && block + 1 < blocks)
      successors[block].push_back(after[block] = block + 1);
  }
  const std::vector<int> sequence = weakTopologicalOrder(successors);
  std::vector<uint32_t> place(blocks, 0);
  std::vector<Draft> ordered;
  for (size_t i = 0; i < sequence.size(); ++i) {
    const int block = sequence[i];
    place[block] = (uint32_t)ordered.size();
    for (uint32_t k = starts[block]; k < endOf(block); ++k)
      ordered.push_back(std::move(drafts[k]));
    if (after[block] >= 0 && (i + 1 == sequence.size() || sequence[i + 1] != after[block])) {
      Draft jump;
      jump.in.kind = Kind::JUMP;
      jump.in.line = ordered.empty() ? function.line : ordered.back().in.line;
      jump.in.target = (uint32_t)after[block]; // a block still
      ordered.push_back(std::move(jump));
    }
  }
  for (Draft &draft : ordered)
    if (draft.in.kind == Kind::JUMP)
      draft.in.target = place[draft.label.empty() ? (int)draft.in.target : blockAt(labels.at(draft.label))];
  for (const std::vector<std::string> &targets : tables) {
    kernel.targets.emplace_back();
    for (const std::string &target : targets)
      kernel.targets.back().push_back(place[blockAt(labels.at(target))]);
  }
  drafts = std::move(ordered);
}

Decoder::Flow Decoder::flowOf() const {
  std::set<uint32_t> begins = {0};
  for (size_t i = 0; i < drafts.size(); ++i) {
    const Instruction &in = drafts[i].in;
    if (in.kind == Kind::JUMP)
      begins.insert(in.target);
    if (in.kind == Kind::SWITCH)
      begins.insert(kernel.targets[in.imm].begin(), kernel.targets[in.imm].end());
    if (in.kind == Kind::JUMP || in.kind == Kind::SWITCH || in.kind == Kind::EXIT || in.kind == Kind::TRAP)
      begins.insert((uint32_t)i + 1);
  }
  begins.erase((uint32_t)drafts.size());
  Flow flow;
  flow.starts.assign(begins.begin(), begins.end());
  const size_t blocks = flow.starts.size();
  const auto blockAt = [&](uint32_t index) {
    return size_t(std::lower_bound(flow.starts.begin(), flow.starts.end(), index) - flow.starts.begin());
  };
  flow.next.resize(blocks);
  for (size_t b = 0; b < blocks; ++b) {
    const Instruction &last = drafts[flow.endOf(b, drafts.size()) - 1].in;
    std::vector<size_t> &next = flow.next[b];
    if (last.kind == Kind::JUMP)
      next.push_back(blockAt(last.target));
    if (last.kind == Kind::SWITCH)
      for (const uint32_t target : kernel.targets[last.imm])
        next.push_back(blockAt(target));
    const bool leaves =
        last.kind == Kind::JUMP || last.kind == Kind::SWITCH || last.kind == Kind::EXIT || last.kind == Kind::TRAP;
    if (!(leaves && last.guard == NONE) && b + 1 < blocks)
      next.push_back(b + 1);
  }
  return flow;
}

void Decoder::allocate() {
  const size_t count = sizes.size(), words = (count + 63) / 64;
  using Bits = std::vector<uint64_t>;
  const auto set = [](Bits &bits, Ref i) { bits[i / 64] |= uint64_t(1) << i % 64; };
  const auto has = [](const Bits &bits, Ref i) { return bits[i / 64] >> i % 64 & 1; };
  const auto virtualRegister = [](Ref ref) { return ref != NONE && !(ref & CONSTANT); };

  const Flow flow = flowOf();
  const std::vector<uint32_t> &starts = flow.starts;
  const size_t blocks = starts.size();
  const auto endOf = [&](size_t block) { return flow.endOf(block, drafts.size()); };

  const auto uses = [&](const Draft &draft, auto each) {
    for (const uint8_t i : draft.used)
      if (virtualRegister(draft.in.r[i]))
        each(draft.in.r[i]);
    if (draft.in.guard != NONE) {
      each(draft.in.guard);
      // What keeps its old value in some threads.
      for (const uint8_t i : draft.defined)
        each(draft.in.r[i]);
    }
    if (virtualRegister(draft.in.members))
      each(draft.in.members);
    for (const More &more : draft.more)
      if (more.used)
        each(more.ref);
  };

  std::vector<Bits> in(blocks, Bits(words)), out(blocks, Bits(words)), upward(blocks, Bits(words)),
      killed(blocks, Bits(words));
  for (size_t b = 0; b < blocks; ++b)
    for (uint32_t i = starts[b]; i < endOf(b); ++i) {
      uses(drafts[i], [&](Ref r) {
        if (!has(killed[b], r))
          set(upward[b], r);
      });
      for (const uint8_t k : drafts[i].defined)
        set(killed[b], drafts[i].in.r[k]);
      for (const More &more : drafts[i].more)
        if (more.defined)
          set(killed[b], more.ref);
    }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = blocks; b-- > 0;) {
      for (size_t w = 0; w < words; ++w) {
        uint64_t bits = 0;
        for (const size_t n : flow.next[b])
          bits |= in[n][w];
        const uint64_t entering = upward[b][w] | (bits & ~killed[b][w]);
        if (bits != out[b][w] || entering != in[b][w]) {
          out[b][w] = bits;
          in[b][w] = entering;
          changed = true;
        }
      }
    }
  }

  // Lives as intervals of the order; a register that is never read lives where it is written.
  struct Life {
    uint32_t first = ~uint32_t(0), last = 0;
  };
  std::vector<Life> lives(count);
  const auto touch = [&](Ref r, uint32_t at) {
    lives[r].first = std::min(lives[r].first, at);
    lives[r].last = std::max(lives[r].last, at);
  };
  for (size_t b = 0; b < blocks; ++b) {
    for (Ref r = 0; r < count; ++r) {
      if (has(in[b], r))
        touch(r, starts[b]);
      if (has(out[b], r))
        touch(r, endOf(b) - 1);
    }
    for (uint32_t i = starts[b]; i < endOf(b); ++i) {
      uses(drafts[i], [&](Ref r) { touch(r, i); });
      for (const uint8_t k : drafts[i].defined)
        touch(drafts[i].in.r[k], i);
      for (const More &more : drafts[i].more)
        touch(more.ref, i);
    }
  }
  for (const auto &[special, ref] : specials)
    lives[ref] = {0, (uint32_t)drafts.size()};

  // First come, first served; a place is free again after its register's last instruction, never within it.
  std::vector<Ref> byStart;
  for (Ref r = 0; r < count; ++r)
    if (lives[r].first != ~uint32_t(0))
      byStart.push_back(r);
  std::sort(byStart.begin(), byStart.end(),
            [&](Ref a, Ref b) { return std::pair(lives[a].first, a) < std::pair(lives[b].first, b); });
  std::map<int, std::vector<Ref>> free; // by size
  std::set<std::pair<uint32_t, Ref>> alive;
  std::vector<Ref> placeOf(count, 0);
  int64_t bytes = 0, live = 0;
  for (const Ref r : byStart) {
    while (!alive.empty() && alive.begin()->first < lives[r].first) {
      const Ref dead = alive.begin()->second;
      free[sizes[dead]].push_back(placeOf[dead]);
      live -= sizes[dead] == 8 ? 2 : sizes[dead] == 1 ? 0 : 1;
      alive.erase(alive.begin());
    }
    std::vector<Ref> &places = free[sizes[r]];
    if (places.empty()) {
      placeOf[r] = (Ref)bytes;
      bytes += sizes[r] == 1 ? 64 : LANES * sizes[r];
    } else {
      placeOf[r] = places.back();
      places.pop_back();
    }
    alive.emplace(lives[r].last, r);
    live += sizes[r] == 8 ? 2 : sizes[r] == 1 ? 0 : 1;
    kernel.liveRegisters = std::max(kernel.liveRegisters, live);
  }
  kernel.registerBytes = bytes;
  for (const auto &[special, ref] : specials)
    kernel.specials.emplace_back(special, placeOf[ref]);
  for (Draft &draft : drafts) {
    for (const auto *indices : {&draft.defined, &draft.used})
      for (const uint8_t i : *indices)
        if (virtualRegister(draft.in.r[i]))
          draft.in.r[i] = placeOf[draft.in.r[i]];
    if (draft.in.guard != NONE)
      draft.in.guard = placeOf[draft.in.guard];
    if (virtualRegister(draft.in.members))
      draft.in.members = placeOf[draft.in.members];
    draft.in.defined = (uint8_t)draft.defined.size();
    draft.in.operands = (uint8_t)(draft.defined.size() + draft.used.size());
    if (!draft.more.empty()) {
      draft.in.list = (uint32_t)kernel.lists.size();
      kernel.lists.emplace_back();
      for (const More &more : draft.more)
        kernel.lists.back().push_back(placeOf[more.ref]);
    }
    kernel.code.push_back(draft.in);
  }
}

} // namespace simt
