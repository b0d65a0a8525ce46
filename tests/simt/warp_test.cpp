// What lanes do together: divergence, shuffles, votes, barriers, matrices.
#include "driver.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

namespace {

class Warp : public Device {};

const std::string STORE = "mul.wide.u32 %rd7, %r0, 4; add.s64 %rd7, %rd0, %rd7; st.global.b32 [%rd7], %r9;";

// Loops of different lengths, a switch, early exits; those who are left still meet at the barrier.
TEST_F(Warp, DivergedThreadsMeetAgain) {
  const std::string body =
      "mov.u32 %r9, 0; mov.u32 %r1, 0; LOOP: setp.ge.u32 %p1, %r1, %r0; @%p1 bra DONE; add.u32 %r9, %r9, %r1; add.u32 "
      "%r1, %r1, 1; bra LOOP; DONE:"
      "activemask.b32 %r2; and.b32 %r3, %r0, 3; TABLE: .branchtargets A, B, C, D; brx.idx %r3, TABLE;"
      "A: add.u32 %r9, %r9, 1000; bra JOIN; B: add.u32 %r9, %r9, 2000; bra JOIN; C: bra JOIN; D: add.u32 %r9, %r9, "
      "3000; JOIN:"
      // All lanes came together again: the mask is full here.
      "activemask.b32 %r4; setp.eq.u32 %p2, %r4, 0xffffffff; @%p2 add.u32 %r9, %r9, 100000; setp.eq.u32 %p2, %r2, "
      "0xffffffff; @%p2 add.u32 %r9, %r9, 200000;"
      "bar.sync 0;" +
      STORE;
  const CUdeviceptr out = upload(std::vector<uint32_t>(64, 0));
  ASSERT_EQ(run(load(module(body)), 1, 64, {out}), CUDA_SUCCESS) << said;
  const auto found = download<uint32_t>(out, 64);
  const uint32_t extra[] = {1000, 2000, 0, 3000};
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(found[i], i * (i - 1) / 2 + extra[i & 3] + 300000) << i;
}

TEST_F(Warp, ThreadsMayLeaveEarly) {
  const std::string body = "mov.u32 %r9, 7; setp.gt.u32 %p1, %r0, 40; @%p1 exit; bar.sync 0; setp.lt.u32 %p1, %r0, 3; "
                           "@%p1 bra END; mov.u32 %r9, 8; END:" +
                           STORE;
  const CUdeviceptr out = upload(std::vector<uint32_t>(96, 0));
  ASSERT_EQ(run(load(module(body)), 1, 96, {out}), CUDA_SUCCESS) << said;
  const auto found = download<uint32_t>(out, 96);
  for (uint32_t i = 0; i < 96; ++i)
    EXPECT_EQ(found[i], i > 40 ? 0u : i < 3 ? 7u : 8u);
}

// The four modes, whole warps and segments, with the predicate, from the words of the manual.
TEST_F(Warp, Shuffles) {
  for (const char *const mode : {"up", "down", "bfly", "idx"})
    for (const int width : {32, 16, 8, 4})
      for (const int by : {0, 1, 2, 3, 5, 7, 16}) {
        const bool up = std::string(mode) == "up";
        const int c = (32 - width) << 8 | (up ? 0 : 31);
        const std::string body = "add.u32 %r1, %r0, 100; shfl.sync." + std::string(mode) + ".b32 %r2|%p1, %r1, " +
                                 std::to_string(by) + ", " + std::to_string(c) +
                                 ", 0xffffffff; selp.b32 %r3, 1000, 0, %p1; add.u32 %r9, %r2, %r3;" + STORE;
        const CUdeviceptr out = upload(std::vector<uint32_t>(32, 0));
        ASSERT_EQ(run(load(module(body)), 1, 32, {out}), CUDA_SUCCESS) << said;
        const auto found = download<uint32_t>(out, 32);
        for (int lane = 0; lane < 32; ++lane) {
          const int first = lane / width * width, last = first + width - 1;
          int from = lane;
          bool inside = false;
          if (up) {
            inside = lane - by >= first;
            from = lane - by;
          } else if (std::string(mode) == "down") {
            inside = lane + by <= last;
            from = lane + by;
          } else if (std::string(mode) == "bfly") {
            inside = (lane ^ by) <= last;
            from = lane ^ by;
          } else {
            inside = true;
            from = first + by % width;
          }
          if (!inside)
            from = lane;
          EXPECT_EQ(found[lane], uint32_t(from + 100 + 1000 * inside))
              << mode << " by " << by << " in " << width << ", lane " << lane;
        }
      }
}

TEST_F(Warp, SumsByButterfly) {
  const std::string body = "cvt.rn.f32.u32 %r9, %r0;"
                           "shfl.sync.bfly.b32 %r1, %r9, 16, 31, -1; add.rn.f32 %r9, %r9, %r1; shfl.sync.bfly.b32 %r1, "
                           "%r9, 8, 31, -1; add.rn.f32 %r9, %r9, %r1;"
                           "shfl.sync.bfly.b32 %r1, %r9, 4, 31, -1; add.rn.f32 %r9, %r9, %r1; shfl.sync.bfly.b32 %r1, "
                           "%r9, 2, 31, -1; add.rn.f32 %r9, %r9, %r1;"
                           "shfl.sync.bfly.b32 %r1, %r9, 1, 31, -1; add.rn.f32 %r9, %r9, %r1;" +
                           STORE;
  const CUdeviceptr out = upload(std::vector<float>(32, 0));
  ASSERT_EQ(run(load(module(body)), 1, 32, {out}), CUDA_SUCCESS) << said;
  EXPECT_EQ(download<float>(out, 32), std::vector<float>(32, 496.0f));
}

TEST_F(Warp, VotesAndReductions) {
  const std::string body =
      "setp.lt.u32 %p1, %r0, 5; vote.sync.ballot.b32 %r1, %p1, -1; vote.sync.any.pred %p2, %p1, -1; vote.sync.all.pred "
      "%p3, %p1, -1;"
      "vote.sync.uni.pred %p4, !%p3, -1; redux.sync.add.u32 %r2, %r0, -1; redux.sync.max.s32 %r3, %r0, -1;"
      "add.u32 %r9, %r1, %r2; add.u32 %r9, %r9, %r3; @%p2 add.u32 %r9, %r9, 1000; @%p3 add.u32 %r9, %r9, 2000; @%p4 "
      "add.u32 %r9, %r9, 4000;" +
      STORE;
  const CUdeviceptr out = upload(std::vector<uint32_t>(32, 0));
  ASSERT_EQ(run(load(module(body)), 1, 32, {out}), CUDA_SUCCESS) << said;
  EXPECT_EQ(download<uint32_t>(out, 32), std::vector<uint32_t>(32, 31 + 496 + 31 + 1000 + 4000));
}

// A reduction over four warps through shared memory; then barriers of some warps by number and count.
TEST_F(Warp, Barriers) {
  const std::string shared = ".shared .align 4 .b8 part[512];";
  const std::string sum =
      "mov.u64 %rd5, part; mul.wide.u32 %rd4, %r0, 4; add.s64 %rd6, %rd5, %rd4; st.shared.b32 [%rd6], %r0; bar.sync 0;"
      "mov.u32 %r9, 0; mov.u32 %r1, 0; LOOP: ld.shared.b32 %r2, [%rd5]; add.u32 %r9, %r9, %r2; add.s64 %rd5, %rd5, 4; "
      "add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 128; @%p1 bra LOOP;" +
      STORE;
  const CUdeviceptr out = upload(std::vector<uint32_t>(128, 0));
  ASSERT_EQ(run(load(module(sum, shared)), 1, 128, {out}), CUDA_SUCCESS) << said;
  EXPECT_EQ(download<uint32_t>(out, 128), std::vector<uint32_t>(128, 127 * 64));
  const std::string some = "mov.u64 %rd5, part; mul.wide.u32 %rd4, %r0, 4; add.s64 %rd6, %rd5, %rd4; shr.u32 %r1, %r0, "
                           "6; add.u32 %r1, %r1, 1;"
                           "st.shared.b32 [%rd6], %r0; barrier.sync %r1, 64; xor.b32 %r2, %r0, 32; mul.wide.u32 %rd4, "
                           "%r2, 4; add.s64 %rd6, %rd5, %rd4; ld.shared.b32 %r9, [%rd6];" +
                           STORE;
  ASSERT_EQ(run(load(module(some, shared)), 1, 128, {out}), CUDA_SUCCESS) << said;
  const auto found = download<uint32_t>(out, 128);
  for (uint32_t i = 0; i < 128; ++i)
    EXPECT_EQ(found[i], i ^ 32);
  const std::string reduced = "setp.lt.u32 %p1, %r0, 70; barrier.red.popc.u32 %r9, 0, %p1; barrier.red.or.pred %p2, 0, "
                              "%p1; @%p2 add.u32 %r9, %r9, 100;" +
                              STORE;
  ASSERT_EQ(run(load(module(reduced)), 1, 128, {out}), CUDA_SUCCESS) << said;
  EXPECT_EQ(download<uint32_t>(out, 128), std::vector<uint32_t>(128, 170));
}

// Four matrices of numbers that say where they lie; the layout by hand: thread 4 r + k has columns 2 k, 2 k + 1 of row
// r.
TEST_F(Warp, LoadsMatrices) {
  for (const bool transposed : {false, true}) {
    const std::string body =
        "mov.u64 %rd5, tile; mul.wide.u32 %rd4, %r0, 16; add.s64 %rd6, %rd5, %rd4; add.s64 %rd7, %rd1, %rd4;"
        "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd7]; st.shared.v4.b32 [%rd6], {%r1, %r2, %r3, %r4}; bar.sync 0; "
        "cvt.u32.u64 %r10, %rd6;"
        "ldmatrix.sync.aligned.m8n8.x4" +
        std::string(transposed ? ".trans" : "") +
        ".shared.b16 {%r5, %r6, %r7, %r8}, [%r10];"
        "add.s64 %rd7, %rd0, %rd4; st.global.v4.b32 [%rd7], {%r5, %r6, %r7, %r8};";
    std::vector<uint16_t> tile(256);
    for (int i = 0; i < 256; ++i)
      tile[i] = uint16_t(i / 64 * 1000 + i / 8 % 8 * 10 + i % 8); // matrix, row, column
    const CUdeviceptr in = upload(tile), out = upload(std::vector<uint32_t>(128, 0));
    ASSERT_EQ(run(load(module(body, ".shared .align 16 .b8 tile[512];")), 1, 32, {out, in}), CUDA_SUCCESS) << said;
    const auto found = download<uint32_t>(out, 128);
    for (int row = 0; row < 8; ++row)
      for (int column = 0; column < 8; ++column)
        for (int matrix = 0; matrix < 4; ++matrix) {
          const int r = transposed ? column : row, c = transposed ? row : column;
          const uint32_t word = found[(r * 4 + c / 2) * 4 + matrix];
          EXPECT_EQ(word >> 16 * (c % 2) & 0xffff, uint32_t(matrix * 1000 + row * 10 + column));
        }
  }
}

struct Product {
  const char *type;
  int depth;
  bool small; // two elements to a register
};
class WarpProducts : public Device, public ::testing::WithParamInterface<Product> {};

// The operands are spread by a walk over rows and columns, not by the tables of the emulator.
TEST_P(WarpProducts, MatchAPlainLoop) {
  const auto [type, depth, small] = GetParam();
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  const bool bf16 = std::string(type) == "bf16", tf32 = std::string(type) == "tf32";
  // A value that the type holds exactly, and its bits.
  const auto draw = [&](uint32_t &bits) {
    float x = normal(random);
    if (bf16) {
      bits = std::bit_cast<uint32_t>(x) >> 16;
      return std::bit_cast<float>(bits << 16);
    }
    if (tf32) {
      bits = std::bit_cast<uint32_t>(x) & ~0x1fffu;
      x = std::bit_cast<float>(bits);
      bits |= random() & 0x1fff; // not looked at
      return x;
    }
    const int code = int(random() % 30 + 1) << 10 | int(random() % 1024);
    const int exponent = std::min(std::max(code >> 10, 10), 18);
    bits = exponent << 10 | (code & 1023);
    return std::ldexp(1024.0f + float(code & 1023), exponent - 25);
  };
  std::vector<float> a(16 * depth), b(depth * 8), c(16 * 8);
  const int na = 16 * depth / 32 / (small ? 2 : 1), nb = 8 * depth / 32 / (small ? 2 : 1);
  std::vector<uint32_t> registers(32 * 12, 0);          // of a lane: a, b, c, from 0, 4, 8
  const int half = small ? 2 : 1, span = small ? 8 : 4; // columns of A that a quad of lanes holds at once
  for (int row = 0; row < 16; ++row)
    for (int k = 0; k < depth; ++k) {
      uint32_t bits;
      a[row * depth + k] = draw(bits);
      const int lane = row % 8 * 4 + k % span / half, word = k / span * 2 + row / 8;
      registers[lane * 12 + word] |= bits << 16 * (small ? k % 2 : 0);
    }
  for (int k = 0; k < depth; ++k)
    for (int column = 0; column < 8; ++column) {
      uint32_t bits;
      b[k * 8 + column] = draw(bits);
      registers[(column * 4 + k % span / half) * 12 + 4 + k / span] |= bits << 16 * (small ? k % 2 : 0);
    }
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      c[row * 8 + column] = normal(random);
      registers[(row % 8 * 4 + column / 2) * 12 + 8 + row / 8 * 2 + column % 2] =
          std::bit_cast<uint32_t>(c[row * 8 + column]);
    }
  std::string as, bs;
  for (int i = 0; i < na; ++i)
    as += (i ? ", %r" : "%r") + std::to_string(1 + i);
  for (int i = 0; i < nb; ++i)
    bs += (i ? ", %r" : "%r") + std::to_string(5 + i);
  const std::string t = type;
  const std::string body =
      "mul.wide.u32 %rd4, %r0, 48; add.s64 %rd5, %rd1, %rd4; ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd5]; "
      "ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [%rd5+16];"
      "ld.global.v4.b32 {%r10, %r11, %r12, %r13}, [%rd5+32]; mma.sync.aligned.m16n8k" +
      std::to_string(depth) + ".row.col.f32." + t + "." + t +
      ".f32 "
      "{%r10, %r11, %r12, %r13}, {" +
      as + "}, {" + bs +
      "}, {%r10, %r11, %r12, %r13};"
      "mul.wide.u32 %rd4, %r0, 16; add.s64 %rd5, %rd0, %rd4; st.global.v4.b32 [%rd5], {%r10, %r11, %r12, %r13};";
  const CUdeviceptr in = upload(registers), out = upload(std::vector<float>(128, 0));
  ASSERT_EQ(run(load(module(body)), 1, 32, {out, in}), CUDA_SUCCESS) << said;
  const auto found = download<float>(out, 128);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      double sum = c[row * 8 + column], size = std::fabs(sum);
      for (int k = 0; k < depth; ++k) {
        sum += (double)a[row * depth + k] * b[k * 8 + column];
        size += std::fabs((double)a[row * depth + k] * b[k * 8 + column]);
      }
      EXPECT_NEAR(found[(row % 8 * 4 + column / 2) * 4 + row / 8 * 2 + column % 2], sum, size * 1e-6)
          << row << ", " << column;
    }
}
INSTANTIATE_TEST_SUITE_P(Types, WarpProducts,
                         ::testing::Values(Product{"bf16", 16, true}, Product{"bf16", 8, true},
                                           Product{"f16", 16, true}, Product{"f16", 8, true}, Product{"tf32", 8, false},
                                           Product{"tf32", 4, false}),
                         [](const auto &info) {
                           return std::string(info.param.type) + "_" + std::to_string(info.param.depth);
                         });

// Two stages under way; what is read has arrived, whole groups at a time; zeros fill what is not read.
TEST_F(Warp, CopiesInTheBackground) {
  const std::string body = "mov.u64 %rd5, buffer; mul.wide.u32 %rd4, %r0, 16; add.s64 %rd6, %rd5, %rd4; add.s64 %rd7, "
                           "%rd1, %rd4; cvt.u32.u64 %r1, %rd6;"
                           "cp.async.cg.shared.global [%r1], [%rd7], 16; cp.async.commit_group; setp.lt.u32 %p1, %r0, "
                           "16; selp.b32 %r2, 16, 0, %p1;"
                           "cp.async.ca.shared.global.L2::128B [%rd6+512], [%rd7+512], 16, %r2; cp.async.commit_group;"
                           "cp.async.wait_group 1; ld.shared.b32 %r3, [%rd6]; cp.async.wait_group 0; ld.shared.b32 "
                           "%r4, [%rd6+512]; add.u32 %r9, %r3, %r4;" +
                           STORE;
  std::vector<uint32_t> values(256);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = uint32_t(i < 128 ? i : 1000 * i);
  const CUdeviceptr in = upload(values), out = upload(std::vector<uint32_t>(32, 0));
  ASSERT_EQ(run(load(module(body, ".shared .align 16 .b8 buffer[1024];")), 1, 32, {out, in}), CUDA_SUCCESS) << said;
  const auto found = download<uint32_t>(out, 32);
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(found[i], values[4 * i] + (i < 16 ? values[128 + 4 * i] : 0));
}

} // namespace
