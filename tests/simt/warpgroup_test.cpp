// Instructions of warpgroups: products of matrices in every layout that a description can name, held against sums in
// double precision; and each mistake that can be made with what happens in the background, planted once.
#include "driver.h"
#include <bit>
#include <cmath>
#include <random>

namespace {

uint16_t bf16Of(float value) { return uint16_t(std::bit_cast<uint32_t>(value) >> 16); } // of few bits: exact

// A matrix in shared memory as the manual's pictures have it: pieces of 16 bytes, 8 neighbours along the depth or,
// where transposed, along the lines.
struct Layout {
  const char *name;
  int code, bytes; // of the swizzle
};
const Layout LAYOUTS[] = {{"none", 0, 0}, {"128", 1, 128}, {"64", 2, 64}, {"32", 3, 32}};

struct Placed {
  std::vector<uint16_t> image;
  uint64_t description = 0; // but for the start
};

// element(line, depth) of `lines` x 16.
template <class F> Placed place(const Layout &layout, bool transposed, int lines, F element) {
  Placed result;
  int leading = 0, stride = 0;
  const int width = layout.bytes;
  if (!transposed) {
    stride = width ? 8 * width : 256; // 8 lines; without a swizzle two blocks of 8 lines x 16 bytes side by side
    leading = 128;
  } else if (width) {
    leading = 2 * 8 * width; // width / 2 lines of all depths
    stride = 8 * width;      // 8 depths
  } else {
    leading = 128, stride = 256;
  }
  const int groups = transposed && width ? (lines + width / 2 - 1) / (width / 2) * leading : (lines + 7) / 8 * stride;
  result.image.assign(groups / 2, 0x7fc0);
  for (int line = 0; line < lines; ++line)
    for (int depth = 0; depth < 16; ++depth) {
      int row, column, start; // of 16-byte pieces in a block of rows `width` (or 16) bytes wide
      if (!transposed) {
        row = line % 8, column = depth / 8, start = line / 8 * stride;
      } else {
        const int across = width ? width / 2 : 8;
        row = depth % 8, column = line % across / 8;
        start = width ? line / across * leading + depth / 8 * stride : line / 8 * stride + depth / 8 * leading;
      }
      int at;
      if (width) // rows of the block lie `width` bytes apart; the block repeats the pattern of 8 rows of 128 bytes
        at = start + row * width + (column ^ (row * width / 128 % (width / 16))) * 16;
      else
        at = start + (transposed ? 0 : column * leading) + row * 16;
      result.image[at / 2 + (transposed ? line : depth) % 8] = bf16Of(element(line, depth));
    }
  result.description = uint64_t(leading / 16) << 16 | uint64_t(stride / 16) << 32 | uint64_t(layout.code) << 62;
  return result;
}

std::string numbers(const char *prefix, int first, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::string(prefix) + std::to_string(first + i);
  return text + "}";
}

struct Case {
  int columns;
  int left, right; // layouts; left -1: in registers
  bool leftTransposed, rightTransposed;
  bool adds = true;
  int sign = 1;
};

class Warpgroup : public Device, public ::testing::WithParamInterface<Case> {
protected:
  void SetUp() override { open({{"BURIN_SIMT_ARCH", "90"}}); }

  static std::string program(const std::string &body) {
    return module(".reg .b32 %c<128>; .reg .b32 %a<4>; .reg .b64 %d<2>;" + body, ".shared .align 1024 .b8 s[65536];",
                  "sm_90a");
  }
};

TEST_P(Warpgroup, MultipliesEveryLayout) {
  const Case &c = GetParam();
  std::mt19937 random(7);
  const auto draw = [&] { return float(int(random() % 31) - 15) / 8; };
  std::vector<float> a(64 * 16), b(16 * c.columns), start(64 * c.columns);
  for (auto *all : {&a, &b, &start})
    for (float &value : *all)
      value = draw();
  const auto ofA = [&](int row, int k) { return a[row * 16 + k]; };
  const auto ofB = [&](int column, int k) { return b[k * c.columns + column]; };
  Placed left;
  if (c.left >= 0)
    left = place(LAYOUTS[c.left], c.leftTransposed, 64, ofA);
  const Placed right = place(LAYOUTS[c.right], c.rightTransposed, c.columns, ofB);
  // The right side at 0, the left one behind it.
  const size_t leftAt = (2 * right.image.size() + 1023) / 1024 * 1024;
  std::vector<uint16_t> image(leftAt / 2 + left.image.size(), 0x7fc0);
  std::copy(right.image.begin(), right.image.end(), image.begin());
  std::copy(left.image.begin(), left.image.end(), image.begin() + (long)leftAt / 2);
  image.resize((image.size() + 1023) / 1024 * 1024, 0);
  // Of each thread: what it adds to, and its registers of the left side.
  const int sums = c.columns / 2;
  std::vector<float> before(128 * sums);
  std::vector<uint32_t> fragments(128 * 4);
  const auto rowOf = [](int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + (i % 4 >= 2 ? 8 : 0); };
  const auto columnOf = [](int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; };
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < sums; ++i)
      before[thread * sums + i] = start[rowOf(thread, i) * c.columns + columnOf(thread, i)];
    for (int i = 0; i < 4; ++i) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + (i & 1) * 8, k = thread % 4 * 2 + (i & 2) * 4;
      fragments[thread * 4 + i] = bf16Of(ofA(row, k)) | uint32_t(bf16Of(ofA(row, k + 1))) << 16;
    }
  }
  std::string body = "mov.u64 %rd5, s; mov.u32 %r1, %r0;\nCOPY: mul.wide.u32 %rd4, %r1, 4; add.s64 %rd6, %rd1, %rd4; "
                     "ld.global.b32 %r2, [%rd6]; add.s64 %rd6, %rd5, %rd4; st.shared.b32 [%rd6], %r2; add.u32 %r1, "
                     "%r1, 128; setp.lt.u32 %p1, %r1, " +
                     std::to_string(image.size() / 2) + "; @%p1 bra COPY;\n";
  body += "mul.wide.u32 %rd4, %r0, 16; add.s64 %rd6, %rd3, %rd4; ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%rd6];\n";
  body +=
      "mul.wide.u32 %rd4, %r0, " + std::to_string(4 * sums) + "; add.s64 %rd6, %rd2, %rd4; add.s64 %rd7, %rd0, %rd4;\n";
  for (int i = 0; i < sums; ++i)
    body += "ld.global.b32 %c" + std::to_string(i) + ", [%rd6+" + std::to_string(4 * i) + "];";
  body += "\nfence.proxy.async.shared::cta; bar.sync 0; shr.u64 %rd5, %rd5, 4; add.s64 %d0, %rd5, " +
          std::to_string((int64_t)right.description) + "; add.s64 %d1, %rd5, " +
          std::to_string((int64_t)(left.description + leftAt / 16)) + "; setp.eq.u32 %p2, 0, " + (c.adds ? "0" : "1") +
          ";\nwgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n" + std::to_string(c.columns) +
          "k16.f32.bf16.bf16 " + numbers("%c", 0, sums) + ", " + (c.left < 0 ? "{%a0, %a1, %a2, %a3}" : "%d1") +
          ", %d0, %p2, " + std::to_string(c.sign) + ", 1, " +
          (c.left < 0         ? ""
           : c.leftTransposed ? "1, "
                              : "0, ") +
          (c.rightTransposed ? "1" : "0") + ";\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n";
  for (int i = 0; i < sums; ++i)
    body += "st.global.b32 [%rd7+" + std::to_string(4 * i) + "], %c" + std::to_string(i) + ";";
  const CUdeviceptr out = upload(std::vector<float>(before.size(), NAN)), in = upload(image), c0 = upload(before),
                    pieces = upload(fragments);
  ASSERT_EQ(run(load(program(body)), 1, 128, {out, in, c0, pieces}), CUDA_SUCCESS) << said;
  const auto found = download<float>(out, before.size());
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < sums; ++i) {
      const int row = rowOf(thread, i), column = columnOf(thread, i);
      double sum = c.adds ? start[row * c.columns + column] : 0;
      for (int k = 0; k < 16; ++k)
        sum += c.sign * (double)ofA(row, k) * ofB(column, k);
      ASSERT_EQ(found[thread * sums + i], (float)sum) << row << ", " << column; // few bits: exact
    }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (int left : {-1, 0, 1, 2, 3})
    for (int right : {0, 1, 2, 3})
      for (bool leftTransposed : {false, true})
        for (bool rightTransposed : {false, true})
          if (left >= 0 || !leftTransposed)
            all.push_back({left == right ? 128 : 72, left, right, leftTransposed, rightTransposed});
  all.push_back({8, -1, 1, false, true});
  all.push_back({256, -1, 1, false, true});
  all.push_back({64, 1, 1, false, false, /*adds=*/false});
  all.push_back({64, 1, 1, false, false, true, /*sign=*/-1});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Each, Warpgroup, ::testing::ValuesIn(cases()), [](const auto &info) {
  const Case &c = info.param;
  return "n" + std::to_string(c.columns) + (c.left < 0 ? "_registers" : std::string("_") + LAYOUTS[c.left].name) +
         (c.leftTransposed ? "t_" : "_") + LAYOUTS[c.right].name + (c.rightTransposed ? "t" : "") +
         (c.adds ? "" : "_new") + (c.sign < 0 ? "_negative" : "");
});

// A product of 64 x 8 from the registers and the first bytes of shared memory; parts of it are left out or moved.
const std::string WRITE =
                      "mov.u64 %rd5, s; mul.wide.u32 %rd4, %r0, 4; add.s64 %rd6, %rd5, %rd4; st.shared.b32 [%rd6], 0;",
                  FENCE_MEMORY = "fence.proxy.async.shared::cta;", BARRIER = "bar.sync 0;",
                  // 16 rows of 16 bytes: without a swizzle, transposed.
    DESCRIBE = "shr.u64 %rd7, %rd5, 4; add.s64 %rd8, %rd7, " + std::to_string(8 << 16) + ";",
                  CLEAR =
                      "mov.b32 %r10, 0; mov.b32 %r11, 0; mov.b32 %r12, 0; mov.b32 %r13, 0; mov.b32 %r20, 0; mov.b32 "
                      "%r21, 0; mov.b32 %r22, 0; mov.b32 %r23, 0; setp.eq.u32 %p1, 0, 0;",
                  FENCE = "\nwgmma.fence.sync.aligned;\n",
                  PRODUCT =
                      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r10, %r11, %r12, %r13}, {%r20, %r21, "
                      "%r22, %r23}, %rd8, %p1, 1, 1, 1;\n",
                  COMMIT = "wgmma.commit_group.sync.aligned;\n", WAIT = "wgmma.wait_group.sync.aligned 0;\n",
                  ALL_BEFORE = WRITE + FENCE_MEMORY + BARRIER + DESCRIBE + CLEAR;

struct Background {
  const char *name;
  std::string body;
  std::vector<std::string> words; // of the message; none: the program is sound
};
const std::vector<Background> BACKGROUND = {
    {"Sound",
     ALL_BEFORE + FENCE + PRODUCT + PRODUCT + COMMIT + WAIT + "add.u32 %r1, %r10, %r11; mov.b32 %r20, 1;" + BARRIER +
         "st.shared.b32 [%rd6], 1;",
     {}},
    {"SoundFenceOfTheReader", WRITE + BARRIER + FENCE_MEMORY + DESCRIBE + CLEAR + FENCE + PRODUCT + COMMIT + WAIT, {}},
    {"SoundOlderGroup",
     ALL_BEFORE + FENCE + PRODUCT + COMMIT +
         "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r14, %r15, %r16, %r17}, {%r20, %r21, %r22, %r23}, "
         "%rd8, "
         "%p1, 1, 1, 1;\n" +
         COMMIT + "wgmma.wait_group.sync.aligned 1;\nadd.u32 %r1, %r10, %r11;" + WAIT,
     {}},
    {"ReadsSumsTooEarly",
     ALL_BEFORE + FENCE + PRODUCT + COMMIT + "add.u32 %r1, %r10, 1;" + WAIT,
     {"reads a register that the wgmma on line", "adds to", "nobody has waited"}},
    {"WritesSumsTooEarly",
     ALL_BEFORE + FENCE + PRODUCT + COMMIT + "mov.b32 %r13, 1;" + WAIT,
     {"writes a register that the wgmma on line", "adds to"}},
    {"WritesTheLeftSideTooEarly",
     ALL_BEFORE + FENCE + PRODUCT + COMMIT + "mov.b32 %r21, 1;" + WAIT,
     {"writes a register that the wgmma on line", "may still read"}},
    {"WaitsForOlderGroupsOnly",
     ALL_BEFORE + FENCE + PRODUCT + COMMIT + "wgmma.wait_group.sync.aligned 1;\nadd.u32 %r1, %r10, 1;" + WAIT,
     {"reads a register that the wgmma on line"}},
    {"WaitsForWhatIsInNoGroup",
     ALL_BEFORE + FENCE + PRODUCT + WAIT + "add.u32 %r1, %r10, 1;" + COMMIT + WAIT,
     {"reads a register that the wgmma on line"}},
    {"OverwritesWhatIsRead",
     ALL_BEFORE + FENCE + PRODUCT + COMMIT + BARRIER + "st.shared.b32 [%rd6], 1;" + WAIT,
     {"write of shared memory at 0x0, which the wgmma on line", "may still read"}},
    {"CopiesOverWhatIsRead",
     ALL_BEFORE + FENCE + PRODUCT + COMMIT + BARRIER + "cp.async.ca.shared.global [%rd6], [%rd0], 4;" + WAIT,
     {"write of shared memory at 0x0, which the wgmma on line"}},
    {"OverwritesBeforeOthersHaveWaited",
     ALL_BEFORE + FENCE + PRODUCT + COMMIT + WAIT + "st.shared.b32 [%rd6], 1;",
     {"race with the read"}},
    {"NoFenceOfMemory",
     WRITE + BARRIER + DESCRIBE + CLEAR + FENCE + PRODUCT + COMMIT + WAIT,
     {"wgmma reads its right side in shared memory at 0x0",
      "no fence.proxy.async after the write of thread (0, 0, 0)"}},
    {"FenceOfMemoryTooEarly",
     FENCE_MEMORY + WRITE + BARRIER + DESCRIBE + CLEAR + FENCE + PRODUCT + COMMIT + WAIT,
     {"no fence.proxy.async after the write"}},
    {"FenceBeforeTheCopyHasArrived",
     WRITE + BARRIER +
         "cp.async.ca.shared.global [%rd6], [%rd0], 4; fence.proxy.async.shared::cta; cp.async.wait_all; bar.sync 0;" +
         DESCRIBE + CLEAR + FENCE + PRODUCT + COMMIT + WAIT,
     {"no fence.proxy.async after the write"}},
    {"NoBarrier",
     WRITE + FENCE_MEMORY + DESCRIBE + CLEAR + FENCE + PRODUCT + COMMIT + WAIT,
     {"wgmma reads its right side"}},
    {"CopyNobodyWaitedFor",
     WRITE + BARRIER + "cp.async.ca.shared.global [%rd6], [%rd0], 4; fence.proxy.async.shared::cta; bar.sync 0;" +
         DESCRIBE + CLEAR + FENCE + PRODUCT + COMMIT + WAIT,
     {"wgmma reads its right side"}},
    {"Uninitialised",
     FENCE_MEMORY + "mov.u64 %rd5, s;" + DESCRIBE + CLEAR + FENCE + PRODUCT + COMMIT + WAIT,
     {"uninitialised, nothing was written there"}},
    {"OutOfBounds",
     ALL_BEFORE + "add.s64 %rd8, %rd8, " + std::to_string(4096 / 16) + ";" + FENCE + PRODUCT + COMMIT + WAIT,
     {"out of bounds, there are 4096 bytes"}},
    {"SwizzleFromWithinThePattern",
     ALL_BEFORE + "add.s64 %rd8, %rd8, " + std::to_string((int64_t(1) << 62) + 8) + ";" + FENCE + PRODUCT + COMMIT +
         WAIT,
     {"starts within the pattern, which repeats every 1024 bytes"}},
    {"EndsWhileUnderWay", ALL_BEFORE + FENCE + PRODUCT + COMMIT, {"ends while wgmma is under way"}},
    {"OneWarpStaysAway",
     ALL_BEFORE + "setp.lt.u32 %p2, %r0, 96; @!%p2 bra END;" + FENCE + PRODUCT + COMMIT + WAIT + "END: bar.sync 0;",
     {"warp 3 came to 0 wgmma, others of its warpgroup to 1"}},
    {"WarpsDescribeDifferently",
     ALL_BEFORE + "shr.u32 %r1, %r0, 5; and.b32 %r1, %r1, 1; cvt.u64.u32 %rd9, %r1; add.s64 %rd8, %rd8, %rd9;" + FENCE +
         PRODUCT + COMMIT + WAIT,
     {"warps of a warpgroup come to different wgmma or describe matrices differently"}},
    {"LanesDescribeDifferently",
     ALL_BEFORE + "and.b32 %r1, %r0, 1; cvt.u64.u32 %rd9, %r1; add.s64 %rd8, %rd8, %rd9;" + FENCE + PRODUCT + COMMIT +
         WAIT,
     {"lanes describe a matrix of wgmma differently", "thread (1, 0, 0)"}},
};

class InBackground : public Device, public ::testing::WithParamInterface<Background> {};

TEST_P(InBackground, IsFoundWhereSomethingIsWrong) {
  close();
  open({{"BURIN_SIMT_ARCH", "90"}, {"BURIN_SIMT_THREADS", "1"}});
  const CUdeviceptr in = upload(std::vector<uint32_t>(64, 0));
  const CUfunction kernel = load(module(GetParam().body, ".shared .align 1024 .b8 s[4096];", "sm_90a"));
  const CUresult result = run(kernel, 1, 128, {in});
  if (GetParam().words.empty()) {
    EXPECT_EQ(result, CUDA_SUCCESS) << said;
    return;
  }
  EXPECT_NE(result, CUDA_SUCCESS);
  for (const std::string &word : GetParam().words)
    EXPECT_NE(said.find(word), std::string::npos) << "'" << word << "' is not in: " << said;
}
INSTANTIATE_TEST_SUITE_P(Each, InBackground, ::testing::ValuesIn(BACKGROUND),
                         [](const auto &info) { return info.param.name; });

// What can be seen from the text alone is said when it is loaded.
class Refused : public Device {
protected:
  void expectRefused(const std::string &body, const std::string &words, const char *target = "sm_90a") {
    std::string log;
    EXPECT_EQ(tryLoad(module(body, ".shared .align 1024 .b8 s[4096];", target), &log), CUDA_ERROR_INVALID_PTX) << body;
    EXPECT_NE(log.find(words), std::string::npos) << "'" << words << "' is not in: " << log;
  }
};

TEST_F(Refused, RegistersAreFencedBeforeTheyAreUsed) {
  close();
  open({{"BURIN_SIMT_ARCH", "90"}});
  const std::string fault = "written after the last wgmma.fence";
  expectRefused(ALL_BEFORE + PRODUCT + COMMIT + WAIT, fault);
  expectRefused(WRITE + DESCRIBE + FENCE + CLEAR + PRODUCT + COMMIT + WAIT, fault);
  expectRefused(ALL_BEFORE + FENCE + PRODUCT + COMMIT + WAIT + "mov.b32 %r20, 1;" + PRODUCT + COMMIT + WAIT, fault);
  // In a loop the second turn comes with what the first has written.
  expectRefused(ALL_BEFORE + FENCE + "LOOP: " + PRODUCT + COMMIT + WAIT +
                    "mov.b32 %r10, 0; setp.eq.u32 %p2, %r0, 500; @%p2 bra LOOP;",
                fault);
  std::string log;
  EXPECT_EQ(tryLoad(module(ALL_BEFORE + "LOOP: " + FENCE + PRODUCT + COMMIT + WAIT +
                               "mov.b32 %r10, 0; setp.eq.u32 %p2, %r0, 500; @%p2 bra LOOP;",
                           ".shared .align 1024 .b8 s[4096];", "sm_90a"),
                    &log),
            CUDA_SUCCESS)
      << log;
}

TEST_F(Refused, OtherMatricesAndTargets) {
  close();
  open({{"BURIN_SIMT_ARCH", "90"}});
  expectRefused(ALL_BEFORE + FENCE + PRODUCT, "wgmma needs .target sm_90a", "sm_90");
  expectRefused("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {%r1}, %rd1, %rd2, %r2, 0, %p1, 1, 1, 0, 0;",
                "sparse matrices of wgmma are not emulated");
  expectRefused("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1}, %rd1, %rd2, %p1, 1, 1, 0, 0;",
                "wgmma of other types than f32.bf16.bf16 is not emulated");
  expectRefused("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r1}, %rd1, %rd2, %p1, 1, 1, 0, 0;",
                "1 sums of wgmma, expected 4");
  expectRefused("fence.proxy.alias;", "is not emulated");
  close();
  open({{"BURIN_SIMT_ARCH", "100"}});
  expectRefused("", ".target sm_90a does not run on sm_100");
}

} // namespace
