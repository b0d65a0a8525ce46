// What a CPU's name says about tiles and about the machine that a program needs.
#include "codegen/target/target.h"

#include <gtest/gtest.h>

namespace burin {
namespace {

class TargetTest : public testing::Test {
protected:
  TargetTest() { context.loadDialect<BurinDialect>(); }

  TargetAttr target(llvm::StringRef cpu) {
    TargetAttr result = targetFor(context, cpu, error);
    EXPECT_TRUE(result) << error;
    return result;
  }
  TargetAttr withFeatures(llvm::StringRef cpu, llvm::StringRef changes) {
    mlir::Builder b(&context);
    return TargetAttr::get(&context, b.getStringAttr(cpu), b.getStringAttr(changes), 8, 16, 32 << 10, 512 << 10, 16);
  }

  mlir::MLIRContext context;
  std::string error;
};

TEST_F(TargetTest, LevelsDifferInLanesRegistersAndCaches) {
  for (auto [cpu, lanes, registers, l2] :
       {std::tuple("x86-64", 4, 16, 512), std::tuple("x86-64-v2", 4, 16, 512), std::tuple("x86-64-v3", 8, 16, 512),
        std::tuple("x86-64-v4", 16, 32, 1024)}) {
    TargetAttr facts = target(cpu);
    EXPECT_EQ(facts.getCpu().getValue(), cpu);
    EXPECT_EQ(facts.getFeatures().getValue(), "") << "a level's features are those that its name stands for";
    EXPECT_EQ(facts.getLanes(), lanes) << cpu;
    EXPECT_EQ(facts.getRegisters(), registers) << cpu;
    EXPECT_EQ(facts.getL1(), 32 << 10) << cpu;
    EXPECT_EQ(facts.getL2(), l2 << 10) << cpu;
  }
}

TEST_F(TargetTest, CpusAreKnownByTheNamesOfLlvm) {
  EXPECT_EQ(target("znver4").getLanes(), 16);
  EXPECT_EQ(target("haswell").getLanes(), 8);
  // AVX without fused multiply-add gains nothing from eight lanes.
  EXPECT_EQ(target("sandybridge").getLanes(), 4);
}

TEST_F(TargetTest, NativeNamesThisMachine) {
  TargetAttr facts = target("native");
  EXPECT_NE(facts.getCpu().getValue(), "native")
      << "a dump continued elsewhere must be for the machine it was made for";
  EXPECT_GT(facts.getL1(), 0);
  EXPECT_GE(facts.getL2(), facts.getL1());
}

TEST_F(TargetTest, UnknownNamesAreRefusedWithTheWayToTheKnownOnes) {
  for (const char *cpu : {"pentium5", "", "x86-64-v5", "i386"}) {
    error.clear();
    EXPECT_FALSE(targetFor(context, cpu, error));
    EXPECT_NE(error.find("'" + std::string(cpu) + "'"), std::string::npos) << error;
    EXPECT_NE(error.find("burin-opt --list-cpus"), std::string::npos) << error;
  }
}

TEST_F(TargetTest, GpusAreNamedByTheirArchitecture) {
  // Without one there is code for the first, and for the second beside it.
  EXPECT_EQ(target("nvptx").getCpu().getValue(), "sm_80");
  EXPECT_EQ(target("nvptx").getFeatures().getValue(), "sm_90a");
  EXPECT_EQ(target("nvptx:sm_80").getCpu().getValue(), "sm_80");
  EXPECT_EQ(target("nvptx:sm_80").getFeatures().getValue(), "");
  EXPECT_EQ(target("nvptx:sm_90a").getCpu().getValue(), "sm_90a");
  EXPECT_EQ(target("nvptx:sm_90a").getFeatures().getValue(), "");
  EXPECT_TRUE(isDevice(target("nvptx")));
  EXPECT_FALSE(isDevice(target("x86-64-v3")));
  EXPECT_EQ(target("nvptx").getPanelWidth(), 64);
  EXPECT_EQ(faultOf(target("nvptx")), "");
  EXPECT_EQ(requiredFeatures(target("nvptx")), "");
  // Written by hand in a dump: a text beside the first is one that is known, and beside that for all.
  for (const char *beside : {"sm_80", "+avx2"}) {
    TargetAttr all = target("nvptx");
    EXPECT_NE(faultOf(TargetAttr::get(&context, all.getCpu(), mlir::StringAttr::get(&context, beside), all.getLanes(),
                                      all.getRegisters(), all.getL1(), all.getL2(), all.getCells()))
                  .find("expected none, or sm_90a beside sm_80"),
              std::string::npos)
        << beside;
  }
  for (const char *name : {"nvptx:", "nvptx:sm_20", "nvptx:sm_90", "nvptx90"}) {
    EXPECT_FALSE(targetFor(context, name, error));
    EXPECT_NE(error.find("'" + std::string(name) + "': expected nvptx"), std::string::npos) << error;
  }
}

TEST_F(TargetTest, EveryListedNameIsTaken) {
  llvm::SmallVector<llvm::StringRef> names;
  std::string list = targetNames();
  llvm::StringRef(list).split(names, '\n', -1, /*KeepEmpty=*/false);
  EXPECT_GT(names.size(), 20u);
  for (llvm::StringRef name : names)
    target(name);
}

// The baseline needs nothing that a 64-bit system could lack.
TEST_F(TargetTest, RequiredFeaturesAreInTheWordsOfCpuinfo) {
  EXPECT_EQ(requiredFeatures(target("x86-64")), "");
  EXPECT_EQ(requiredFeatures(target("x86-64-v3")),
            "abm,avx,avx2,bmi1,bmi2,f16c,fma,movbe,pni,popcnt,sse4_1,sse4_2,ssse3");
  EXPECT_NE(requiredFeatures(target("x86-64-v4")).find("avx512f,avx512vl"), std::string::npos);
}

TEST_F(TargetTest, ChangesToACpusFeaturesCount) {
  EXPECT_EQ(requiredFeatures(withFeatures("x86-64", "+fma,+avx")), "avx,fma");
  std::string without = requiredFeatures(withFeatures("x86-64-v3", "-bmi2"));
  EXPECT_EQ(without.find("bmi2"), std::string::npos) << without;
}

} // namespace
} // namespace burin
