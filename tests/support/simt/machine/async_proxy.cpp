#include "async_proxy.h"
#include "../driver_codes.h"
#include "block.h"
#include <algorithm>
#include <cstdio>

namespace simt {

void AsyncProxy::begin(int64_t sharedBytes, size_t count, int64_t registerBytes) {
  readers.assign((sharedBytes + CELL - 1) / CELL, 0);
  writer.assign(readers.size(), 0);
  warps.assign(count, {});
  for (OfWarp &warp : warps)
    warp.busy.assign(registerBytes / 64 + 1, FREE);
  steps.assign((count + 3) / 4, {});
}

void AsyncProxy::checkWrite(uint64_t at, uint32_t bytes, int lane) const {
  for (uint64_t cell = at / CELL; cell <= (at + bytes - 1) / CELL; ++cell)
    if (readers[cell]) {
      int line = 0;
      for (const OfWarp &warp : warps)
        for (const Product &product : warp.products)
          if (std::find(product.cells.begin(), product.cells.end(), cell) != product.cells.end())
            line = product.in->line;
      char place[32];
      std::snprintf(place, sizeof place, "0x%llx", (unsigned long long)at);
      throw Fault{LAUNCH_FAILED,
                  std::string("write of shared memory at ") + place + ", which the wgmma on line " +
                      std::to_string(line) + " may still read: nobody has waited for it",
                  lane};
    }
}

void AsyncProxy::noteWrite(uint64_t at, uint32_t bytes, Tag by) {
  const int thread = by & TAG_THREAD;
  const uint32_t first = uint32_t(at / CELL), last = uint32_t((at + bytes - 1) / CELL);
  std::fill(writer.begin() + first, writer.begin() + last + 1, uint16_t(1 + thread));
  std::vector<Written> &written = warps[thread / LANES].written;
  written.push_back({first, last - first + 1, by});
}

void AsyncProxy::fence(const Block &block, const Warp &by, Mask lanes) {
  // A thread's own writes, and those of others that a barrier has put before.
  for (size_t w = 0; w < warps.size(); ++w)
    std::erase_if(warps[w].written, [&](const Written &each) {
      const int thread = each.tag & TAG_THREAD;
      const bool own = (int)w == by.index && (lanes >> thread % LANES & 1);
      if (!own && !block.check.order.ordered(each.tag, by.index, by.thread(0)))
        return false;
      for (uint32_t cell = each.cell; cell < each.cell + each.cells; ++cell)
        if (writer[cell] == 1 + thread)
          writer[cell] = 0;
      return true;
    });
}

int AsyncProxy::unfenced(uint64_t at, uint32_t bytes) const {
  for (uint64_t cell = at / CELL; cell <= (at + bytes - 1) / CELL; ++cell)
    if (writer[cell])
      return writer[cell] - 1;
  return -1;
}

// Of a product's list in the kernel: its sums first, then registers of the left side.
static void take(const Kernel &kernel, AsyncProxy::OfWarp &warp, const Instruction &in) {
  const std::vector<Ref> &list = kernel.lists[in.list];
  for (size_t i = 0; i < list.size(); ++i) {
    uint8_t &busy = warp.busy[list[i] / 64];
    busy = std::max<uint8_t>(busy, i < in.count ? AsyncProxy::BUSY_SUM : AsyncProxy::BUSY_LEFT);
    if (i < in.count)
      busy = AsyncProxy::BUSY_SUM;
  }
}

void AsyncProxy::start(const Kernel &kernel, int warp, Product product) {
  for (const uint32_t cell : product.cells)
    ++readers[cell];
  take(kernel, warps[warp], *product.in);
  warps[warp].products.push_back(std::move(product));
}

void AsyncProxy::wait(const Kernel &kernel, int index, uint32_t mostGroups) {
  OfWarp &warp = warps[index];
  std::erase_if(warp.products, [&](const Product &product) {
    if ((int64_t)product.group >= (int64_t)warp.group - (int64_t)mostGroups)
      return false;
    for (const uint32_t cell : product.cells)
      --readers[cell];
    return true;
  });
  std::fill(warp.busy.begin(), warp.busy.end(), FREE);
  for (const Product &product : warp.products)
    take(kernel, warp, *product.in);
}

void AsyncProxy::checkRegisters(const Block &block, const Warp &warp, const Instruction &in) const {
  const OfWarp &own = warps[warp.index];
  for (int i = 0; i < in.operands; ++i) {
    const Ref ref = in.r[i];
    if (ref == NONE || ref & CONSTANT)
      continue;
    const uint8_t busy = own.busy[ref / 64];
    const bool writes = i < in.defined;
    if (busy == BUSY_SUM || (busy == BUSY_LEFT && writes)) {
      int line = 0;
      for (const Product &product : own.products) {
        const std::vector<Ref> &list = block.kernel->lists[product.in->list];
        if (std::find(list.begin(), list.end(), ref) != list.end())
          line = product.in->line;
      }
      throw Fault{LAUNCH_FAILED,
                  std::string(writes ? "writes" : "reads") + " a register that the wgmma on line " +
                      std::to_string(line) + (busy == BUSY_SUM ? " adds to" : " may still read") +
                      ": nobody has waited for it",
                  0};
    }
  }
}

void AsyncProxy::checkEnd(const Block &block) const {
  for (const OfWarp &warp : warps) {
    const size_t expected = steps[size_t(&warp - warps.data()) / 4].size();
    if (warp.count != expected)
      throw Fault{LAUNCH_FAILED,
                  "warp " + std::to_string(&warp - warps.data()) + " came to " + std::to_string(warp.count) +
                      " wgmma, others of its warpgroup to " + std::to_string(expected) + " (kernel '" +
                      block.kernel->name + "')",
                  0};
  }
}

} // namespace simt
