// Packing moves elements and nothing else: every layout and size against the formula in words.td.
#include "tests/codegen/cpu/kernel.h"

namespace burin::test {
namespace {

struct Case {
  int64_t k, n, width;
  std::vector<int64_t> strides; // of the source
  std::string name() const { return "pack_" + join({k, n, width, strides[0], strides[1]}, "_"); }
};

class CpuPackTest : public testing::TestWithParam<Machine> {
protected:
  void SetUp() override {
    if (!GetParam().isPresent())
      GTEST_SKIP() << "this machine has no " << GetParam().cpu;
  }

  void expectPacked(const std::vector<Case> &cases) {
    Kernels kernels(GetParam());
    for (const Case &one : cases) {
      TileText source = sourceOf(one), panels = panelsOf(one);
      kernels.add(one.name(), {flatType(source.end()), flatType(panels.end())},
                  source.define("source") + panels.define("panels") + "burin.pack %source, %panels : " + source.type() +
                      ", " + panels.type() + "\n");
    }
    ASSERT_NO_FATAL_FAILURE(kernels.compile());
    for (const Case &one : cases) {
      TileText st = sourceOf(one), pt = panelsOf(one);
      Buffer source(st.end()), panels(pt.end() + 16);
      for (int64_t i = 0; i < panels.size(); ++i)
        panels.floats()[i] = -7;
      float next = 1;
      forEachIndex(st.sizes, [&](const auto &i) { source.floats()[st.offset + linear(i, st.strides)] = next++; });
      kernels.run(one.name(), {&source, &panels});
      forEachIndex(pt.sizes, [&](const auto &i) {
        int64_t column = i[0] * one.width + i[2];
        float want = column < one.n ? source.floats()[st.offset + linear({i[1], column}, st.strides)] : 0;
        ASSERT_EQ(panels.floats()[pt.offset + linear(i, pt.strides)], want) << one.name() << " at " << join(i);
      });
      for (int64_t i = 0; i < panels.size(); ++i)
        if (i < pt.offset || i >= pt.end()) {
          ASSERT_EQ(panels.floats()[i], -7) << one.name() << " wrote outside its panels";
        }
    }
  }

  static TileText sourceOf(const Case &one) { return {0, 3, {one.k, one.n}, one.strides}; }
  static TileText panelsOf(const Case &one) {
    return {1, 2, {(one.n + one.width - 1) / one.width, one.k, one.width}, {one.k * one.width, one.width, 1}};
  }

  // Rows contiguous, columns contiguous, neither.
  void expectAllSizes(int layout) {
    std::vector<Case> cases;
    int64_t lanes = GetParam().lanes;
    for (size_t i = 0; i < oddSizes.size(); ++i)
      for (size_t j = 0; j < oddSizes.size(); ++j) {
        int64_t k = oddSizes[i], n = oddSizes[j], width = (1 + static_cast<int64_t>(i + j) % 3) * lanes;
        std::vector<int64_t> strides = layout == 0   ? std::vector<int64_t>{n + 1, 1}
                                       : layout == 1 ? std::vector<int64_t>{1, k + 2}
                                                     : std::vector<int64_t>{2 * n + 1, 2};
        cases.push_back({k, n, width, strides});
      }
    expectPacked(cases);
  }
};

TEST_P(CpuPackTest, RowsAreCopied) { expectAllSizes(0); }
TEST_P(CpuPackTest, ContiguousColumnsAreTransposed) { expectAllSizes(1); }
TEST_P(CpuPackTest, AnyOtherStridesAreGathered) { expectAllSizes(2); }
TEST_P(CpuPackTest, AWidthNeedNotBeAMultipleOfTheLanes) {
  expectPacked({{7, 19, 5, {20, 1}}, {17, 21, 10, {1, 17}}, {3, 50, 33, {100, 2}}, {18, 4, 3, {1, 40}}});
}
TEST_P(CpuPackTest, ARepeatedColumnFillsItsPanel) { expectPacked({{5, 20, 16, {1, 0}}, {5, 37, 16, {3, 0}}}); }

INSTANTIATE_TEST_SUITE_P(, CpuPackTest, testing::ValuesIn(machines()), nameOf);

} // namespace
} // namespace burin::test
