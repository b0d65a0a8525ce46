// Each fault that the emulator looks for, planted once, and beside it the same program without the fault.
#include "driver.h"

namespace {

struct Planted {
  const char *name;
  std::string body;
  std::string variables;
  CUresult code;
  std::vector<std::string> words; // of the message
  unsigned blocks = 1, threads = 64;
  bool global = false; // needs BURIN_SIMT_CHECK=global
};

const std::string SHARED = ".shared .align 16 .b8 s[1024];";
// %rd5: s, %rd6: the thread's word of it, %rd7: the thread's word of the array p0.
const std::string SETUP =
    "mov.u64 %rd5, s; mul.wide.u32 %rd4, %r0, 4; add.s64 %rd6, %rd5, %rd4; add.s64 %rd7, %rd0, %rd4;";
const std::string PLACE = "mul.wide.u32 %rd4, %r0, 4; add.s64 %rd7, %rd0, %rd4;";

const std::vector<Planted> PLANTED = {
    {"ReadPastTheEnd",
     PLACE + "ld.global.b32 %r1, [%rd7+4];",
     "",
     CUDA_ERROR_ILLEGAL_ADDRESS,
     {"kernel 'k'", "out-of-bounds read of 4 bytes of device memory", "block (0, 0, 0), thread (63, 0, 0)",
      "0 bytes past the end of the allocation of 256 bytes"}},
    {"WritePastTheEnd",
     PLACE + "st.global.b32 [%rd7+12], %r0;",
     "",
     CUDA_ERROR_ILLEGAL_ADDRESS,
     {"out-of-bounds write", "thread (61, 0, 0)"}},
    {"WriteBeforeTheBeginning",
     PLACE + "st.global.b32 [%rd7-4], %r0;",
     "",
     CUDA_ERROR_ILLEGAL_ADDRESS,
     {"out-of-bounds write", "4 bytes before the allocation"}},
    {"ReadThroughNull", "mov.u64 %rd4, 0; ld.b32 %r1, [%rd4];", "", CUDA_ERROR_ILLEGAL_ADDRESS, {"out-of-bounds read"}},
    {"VectorAcrossTheEnd",
     "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd0+256];",
     "",
     CUDA_ERROR_ILLEGAL_ADDRESS,
     {"read of 16 bytes"}},
    {"Misaligned",
     "ld.global.v2.b32 {%r1, %r2}, [%rd0+4];",
     "",
     CUDA_ERROR_MISALIGNED_ADDRESS,
     {"misaligned read of 8 bytes", "byte 4 of the allocation"}},
    {"MisalignedShared",
     SETUP + "st.shared.b32 [%rd5+2], %r0;",
     SHARED,
     CUDA_ERROR_MISALIGNED_ADDRESS,
     {"misaligned write", "shared memory at 0x2"}},
    {"SharedPastTheEnd",
     SETUP + "st.shared.b32 [%rd6+1020], %r0;",
     SHARED,
     CUDA_ERROR_ILLEGAL_ADDRESS,
     {"out-of-bounds write", "shared memory at 0x400, which has 1024 bytes", "thread (1, 0, 0)"}},
    {"LocalPastTheEnd",
     ".local .align 4 .b8 l[16]; mov.u64 %rd4, l; st.local.b32 [%rd4+16], %r0;",
     "",
     CUDA_ERROR_ILLEGAL_ADDRESS,
     {"local memory"}},
    {"UninitialisedShared",
     SETUP + "st.shared.b32 [%rd6], %r0; bar.sync 0; ld.shared.b32 %r1, [%rd6+256];",
     SHARED,
     CUDA_ERROR_LAUNCH_FAILED,
     {"uninitialised", "shared memory at 0x100"}},
    {"RaceWithoutBarrier",
     SETUP + "st.shared.b32 [%rd6], %r0; xor.b32 %r1, %r0, 32; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd8, %rd5, %rd4; "
             "ld.shared.b32 %r2, [%rd8];",
     SHARED,
     CUDA_ERROR_LAUNCH_FAILED,
     {}},
    {"RaceWithinAWarp",
     SETUP + "st.shared.b32 [%rd6], %r0; xor.b32 %r1, %r0, 1; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd8, %rd5, %rd4; "
             "ld.shared.b32 %r2, [%rd8];",
     SHARED,
     CUDA_ERROR_LAUNCH_FAILED,
     {"race with the write of thread (1, 0, 0)"},
     1,
     32},
    {"ShuffleIsNoBarrier",
     SETUP + "st.shared.b32 [%rd6], %r0; shfl.sync.bfly.b32 %r3, %r0, 1, 31, -1; xor.b32 %r1, %r0, 1; mul.wide.u32 "
             "%rd4, %r1, 4; add.s64 %rd8, %rd5, %rd4; ld.shared.b32 %r2, [%rd8];",
     SHARED,
     CUDA_ERROR_LAUNCH_FAILED,
     {"race with the write"},
     1,
     32},
    {"RaceOfWriteWithRead",
     SETUP + "st.shared.b32 [%rd6], %r0; bar.sync 0; ld.shared.b32 %r1, [%rd5]; setp.eq.u32 %p1, %r0, 40; @%p1 "
             "st.shared.b32 [%rd5], %r0;",
     SHARED,
     CUDA_ERROR_LAUNCH_FAILED,
     {"race with the read of", "and others", "thread (40, 0, 0)"}},
    {"TwoWriteOneWord",
     SETUP + "st.shared.b32 [%rd5], %r0;",
     SHARED,
     CUDA_ERROR_LAUNCH_FAILED,
     {"race with the write of thread (0, 0, 0)", "thread (1, 0, 0)"}},
    {"HalvesOfAWordByTwoWarps",
     SETUP + "cvt.u16.u32 %rs1, %r0; and.b32 %r1, %r0, 31; mul.wide.u32 %rd4, %r1, 2; add.s64 %rd6, %rd5, %rd4; "
             "st.shared.b16 [%rd6], %rs1;",
     SHARED,
     CUDA_ERROR_LAUNCH_FAILED,
     {"race with the write of thread (0, 0, 0)", "thread (32, 0, 0)"}},
    {"CopyNobodyWaitsFor",
     SETUP + "mul.wide.u32 %rd4, %r0, 16; add.s64 %rd6, %rd5, %rd4; cp.async.ca.shared.global [%rd6], [%rd0], 16; "
             "cp.async.commit_group; cp.async.wait_group 1; ld.shared.b32 %r1, [%rd6];",
     SHARED,
     CUDA_ERROR_LAUNCH_FAILED,
     {"race with the cp.async of thread (0, 0, 0)", "nobody has waited"},
     1,
     32},
    {"CopyWithoutCommit",
     SETUP + "mul.wide.u32 %rd4, %r0, 16; add.s64 %rd6, %rd5, %rd4; cp.async.ca.shared.global [%rd6], [%rd0], 16; "
             "cp.async.wait_group 0; ld.shared.b32 %r1, [%rd6];",
     SHARED,
     CUDA_ERROR_LAUNCH_FAILED,
     {"race with the cp.async"},
     1,
     32},
    {"CopyOfAnotherThreadWithoutBarrier",
     SETUP + "mul.wide.u32 %rd4, %r0, 16; add.s64 %rd6, %rd5, %rd4; cp.async.ca.shared.global [%rd6], [%rd0], 16; "
             "cp.async.wait_all; ld.shared.b32 %r1, [%rd5];",
     SHARED,
     CUDA_ERROR_LAUNCH_FAILED,
     {"race with the write of thread (0, 0, 0)"},
     1,
     32},
    {"CopyOverWhatIsRead",
     SETUP + "st.shared.b32 [%rd6], %r0; bar.sync 0; ld.shared.b32 %r1, [%rd5]; setp.eq.u32 %p1, %r0, 50; @%p1 "
             "cp.async.ca.shared.global [%rd5], [%rd0], 4;",
     SHARED,
     CUDA_ERROR_LAUNCH_FAILED,
     {"cp.async", "race with the read"}},
    {"DivergentBarrierInAWarp",
     "setp.lt.u32 %p1, %r0, 5; @%p1 bra A; bar.sync 0; bra END; A: bar.sync 0; END:",
     "",
     CUDA_ERROR_LAUNCH_FAILED,
     {"divergence, the warp hangs"}},
    {"DivergentBarrierOfWarps",
     "setp.lt.u32 %p1, %r0, 32; @%p1 bra A;\nbar.sync 0; bra END;\nA: bar.sync 0; END:",
     "",
     CUDA_ERROR_LAUNCH_FAILED,
     {"divergent barrier", "on line"}},
    {"BarrierThatNobodyFills",
     "barrier.sync 1, 96;",
     "",
     CUDA_ERROR_LAUNCH_FAILED,
     {"divergent barrier, the block hangs", "barrier 1 for 96 threads"}},
    {"ShuffleWithoutSomeLanes",
     "setp.lt.u32 %p1, %r0, 5; @%p1 bra END; shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1; END: bar.sync 0;",
     "",
     CUDA_ERROR_LAUNCH_FAILED,
     {"hangs"},
     1,
     32},
    {"ShuffleWithLanesThatLeft",
     "setp.lt.u32 %p1, %r0, 5; @%p1 exit; shfl.sync.bfly.b32 %r1, %r0, 1, 31, -1;",
     "",
     CUDA_ERROR_LAUNCH_FAILED,
     {"exited"},
     1,
     32},
    {"Trap", "setp.eq.u32 %p1, %r0, 3; @%p1 trap;", "", CUDA_ERROR_LAUNCH_FAILED, {"trap", "thread (3, 0, 0)"}},
    {"UninitialisedGlobal",
     PLACE + "ld.global.b32 %r1, [%rd1];",
     "",
     CUDA_ERROR_LAUNCH_FAILED,
     {"uninitialised", "device memory", "byte 0 of the allocation of 64 bytes"},
     1,
     64,
     true},
    {"BlocksWriteTheSame",
     "st.global.b32 [%rd0], 1;",
     "",
     CUDA_ERROR_LAUNCH_FAILED,
     {"race with the write of block 0", "block (1, 0, 0)"},
     2,
     1,
     true},
    {"BlockReadsWhatAnotherWrites",
     "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 st.global.b32 [%rd0], 1; @!%p1 ld.global.b32 %r2, [%rd0];",
     "",
     CUDA_ERROR_LAUNCH_FAILED,
     {"race with the write of block 0"},
     2,
     1,
     true},
    {"BlockWritesWhatOthersRead",
     "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 2; @!%p1 ld.global.b32 %r2, [%rd0]; @%p1 st.global.b32 [%rd0], 1;",
     "",
     CUDA_ERROR_LAUNCH_FAILED,
     {"race with the read of several blocks"},
     3,
     1,
     true},
    {"ReadOnlyPathOfWhatWasWritten",
     PLACE + "st.global.b32 [%rd7], %r0; bar.sync 0; ld.global.nc.b32 %r1, [%rd0];",
     "",
     CUDA_ERROR_LAUNCH_FAILED,
     {"read-only path"},
     1,
     64,
     true},
    {"ThreadsOfABlockWithoutBarrier",
     PLACE + "st.global.b32 [%rd7], %r0; xor.b32 %r1, %r0, 1; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd8, %rd0, %rd4; "
             "ld.global.b32 %r2, [%rd8];",
     "",
     CUDA_ERROR_LAUNCH_FAILED,
     {"race with thread (1, 0, 0) of the same block"},
     1,
     32,
     true},
};

class PlantedFault : public Device, public ::testing::WithParamInterface<Planted> {};

TEST_P(PlantedFault, IsFoundAndSticks) {
  const Planted &planted = GetParam();
  close();
  // One thread of the system, so that blocks come in order.
  open({{"BURIN_SIMT_CHECK", planted.global ? "global" : ""}, {"BURIN_SIMT_THREADS", "1"}});
  const CUdeviceptr out = upload(std::vector<uint32_t>(64, 5)), fresh = allocate(64);
  const CUfunction kernel = load(module(planted.body, planted.variables));
  EXPECT_EQ(nameOf(run(kernel, planted.blocks, planted.threads, {out, fresh})), nameOf(planted.code)) << said;
  for (const std::string &word : planted.words)
    EXPECT_NE(said.find(word), std::string::npos) << "'" << word << "' is not in: " << said;
  EXPECT_NE(said.find("PTX line "), std::string::npos) << said;
  // Nothing works any more but in a new context.
  CUdeviceptr more = 0;
  EXPECT_EQ(api().cuMemAlloc_v2(&more, 16), planted.code);
  EXPECT_EQ(launch(kernel, 1, 1, {}), planted.code);
  close();
  open({});
  EXPECT_NE(allocate(16), 0u);
}
INSTANTIATE_TEST_SUITE_P(Each, PlantedFault, ::testing::ValuesIn(PLANTED),
                         [](const auto &info) { return info.param.name; });

struct Sound {
  const char *name;
  std::string body;
  std::string variables;
  unsigned blocks = 1, threads = 64;
};
const std::vector<Sound> SOUND = {
    {"BarrierBetween",
     SETUP + "st.shared.b32 [%rd6], %r0; bar.sync 0; xor.b32 %r1, %r0, 32; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd8, "
             "%rd5, %rd4; ld.shared.b32 %r2, [%rd8]; bar.sync 0; st.shared.b32 [%rd6], %r2;",
     SHARED},
    {"WarpBarrierBetween",
     SETUP + "st.shared.b32 [%rd6], %r0; bar.warp.sync -1; xor.b32 %r1, %r0, 1; mul.wide.u32 %rd4, %r1, 4; add.s64 "
             "%rd8, %rd5, %rd4; ld.shared.b32 %r2, [%rd8]; bar.warp.sync -1; st.shared.b32 [%rd6], %r2;",
     SHARED},
    {"SameValueByAWarp", SETUP + "st.shared.b32 [%rd5], 7; st.global.b32 [%rd0], 7;", SHARED, 1, 32},
    {"OwnWordAgain",
     SETUP + "st.shared.b32 [%rd6], %r0; ld.shared.b32 %r1, [%rd6]; st.shared.b32 [%rd6], %r1; ld.global.b32 %r1, "
             "[%rd7]; st.global.b32 [%rd7], %r1;",
     SHARED},
    {"NeighbouringHalves",
     SETUP + "cvt.u16.u32 %rs1, %r0; mul.wide.u32 %rd4, %r0, 2; add.s64 %rd6, %rd5, %rd4; st.shared.b16 [%rd6], %rs1; "
             "add.s64 %rd7, %rd0, %rd4; st.global.b16 [%rd7], %rs1;",
     SHARED},
    {"ManyReaders",
     SETUP + "ld.global.b32 %r1, [%rd0]; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.b32 [%rd5], %r1; bar.sync 0; "
             "ld.shared.b32 %r1, [%rd5]; bar.sync 0; @%p1 st.shared.b32 [%rd5], 3;",
     SHARED, 3},
    {"GlobalWithBarrier",
     PLACE + "st.global.b32 [%rd7], %r0; bar.sync 0; xor.b32 %r1, %r0, 33; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd8, "
             "%rd0, %rd4; ld.global.b32 %r2, [%rd8];",
     ""},
    // Blocks follow one another on the same shared memory, which each must write anew; here each does.
    {"ManyBlocks", SETUP + "st.shared.b32 [%rd6], %r0; bar.sync 0; ld.shared.b32 %r1, [%rd5];", SHARED, 50},
    {"CopyAndBarrier",
     SETUP + "mul.wide.u32 %rd4, %r0, 16; add.s64 %rd6, %rd5, %rd4; cp.async.ca.shared.global [%rd6], [%rd0], 16; "
             "cp.async.wait_all; bar.sync 0; ld.shared.b32 %r1, [%rd5];",
     SHARED},
};
class SoundProgram : public Device, public ::testing::WithParamInterface<Sound> {};
TEST_P(SoundProgram, IsNotAccused) {
  close();
  open({{"BURIN_SIMT_CHECK", "global"}});
  const CUfunction kernel = load(module(GetParam().body, GetParam().variables));
  const CUdeviceptr out = upload(std::vector<uint32_t>(64, 5));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(run(kernel, GetParam().blocks, GetParam().threads, {out}), CUDA_SUCCESS) << said;
}
INSTANTIATE_TEST_SUITE_P(Each, SoundProgram, ::testing::ValuesIn(SOUND),
                         [](const auto &info) { return info.param.name; });

// A block that is not the first must not see as initialised what an earlier block wrote.
TEST_F(PlantedFault, SharedMemoryIsFreshForEachBlock) {
  close();
  open({{"BURIN_SIMT_THREADS", "1"}});
  const CUfunction kernel = load(module(
      SETUP +
          "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.b32 [%rd6], %r0; ld.shared.b32 %r2, [%rd6];",
      SHARED));
  EXPECT_EQ(run(kernel, 2, 64, {0}), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(said.find("block (1, 0, 0)"), std::string::npos) << said;
  EXPECT_NE(said.find("uninitialised"), std::string::npos) << said;
}

} // namespace
