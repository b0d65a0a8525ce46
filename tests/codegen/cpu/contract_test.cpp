// Products of tiles in every layout and at every awkward size, against sums in double precision.
#include "tests/codegen/cpu/kernel.h"

namespace burin::test {
namespace {

enum class Left { rows, columns, spread };
enum class Right { rows, panels, narrowPanels };

struct Case {
  int64_t m, n, k;
  Left left = Left::rows;
  Right right = Right::rows;
  bool accumulate = false;
  int64_t width = 0; // of panels

  std::string name() const {
    return "contract_" + join({m, n, k, static_cast<int64_t>(left), static_cast<int64_t>(right), accumulate}, "_");
  }
  TileText c() const { return {0, 5, {m, n}, {n + 3, 1}}; }
  TileText a() const {
    switch (left) {
    case Left::rows:
      return {1, 3, {m, k}, {k + 2, 1}};
    case Left::columns:
      return {1, 1, {m, k}, {1, m + 1}};
    default:
      return {1, 0, {m, k}, {2 * k, 2}};
    }
  }
  TileText b() const {
    if (right == Right::rows)
      return {2, 7, {k, n}, {n + 1, 1}};
    return {2, 0, {(n + width - 1) / width, k, width}, {k * width, width, 1}};
  }
};

class CpuContractTest : public testing::TestWithParam<Machine> {
protected:
  void SetUp() override {
    if (!GetParam().isPresent())
      GTEST_SKIP() << "this machine has no " << GetParam().cpu;
  }

  void expectProducts(std::vector<Case> cases) {
    Kernels kernels(GetParam());
    for (Case &one : cases) {
      int64_t wide = GetParam().lanes * (GetParam().registers >= 32 ? 3 : 2);
      one.width = one.right == Right::narrowPanels ? GetParam().lanes : wide;
      TileText c = one.c(), a = one.a(), b = one.b();
      kernels.add(one.name(), {flatType(c.end()), flatType(a.end()), flatType(b.end())},
                  c.define("c") + a.define("a") + b.define("b") + "burin.contract %c, %a, %b " +
                      (one.accumulate ? "accumulate " : "") + ": " + c.type() + ", " + a.type() + ", " + b.type() +
                      "\n");
    }
    ASSERT_NO_FATAL_FAILURE(kernels.compile());
    for (const Case &one : cases)
      expectProduct(kernels, one);
  }

  static void expectProduct(const Kernels &kernels, const Case &one) {
    TileText ct = one.c(), at = one.a(), bt = one.b();
    Buffer c(ct.end()), a(at.end()), b(bt.end());
    Random random(static_cast<uint64_t>(one.m * 10007 + one.n * 101 + one.k));
    forEachIndex(at.sizes, [&](const auto &i) { a.floats()[at.offset + linear(i, at.strides)] = random.next(); });
    std::vector<double> right(static_cast<size_t>(one.k * one.n));
    forEachIndex({one.k, one.n}, [&](const auto &i) {
      float value = random.next();
      right[static_cast<size_t>(i[0] * one.n + i[1])] = value;
      std::vector<int64_t> where =
          one.right == Right::rows ? i : std::vector<int64_t>{i[1] / one.width, i[0], i[1] % one.width};
      b.floats()[bt.offset + linear(where, bt.strides)] = value;
    });
    if (one.right != Right::rows)
      for (int64_t i = 0; i < b.size(); ++i)
        if (std::isnan(b.floats()[i]))
          b.floats()[i] = 0;
    for (int64_t i = 0; i < c.size(); ++i)
      c.floats()[i] = 100 + random.next();
    std::vector<float> before(c.floats(), c.floats() + c.size());

    kernels.run(one.name(), {&c, &a, &b});

    std::vector<bool> isTile(before.size(), false);
    forEachIndex(ct.sizes, [&](const auto &i) {
      size_t where = static_cast<size_t>(ct.offset + linear(i, ct.strides));
      isTile[where] = true;
      double want = one.accumulate ? before[where] : 0, size = std::abs(want);
      for (int64_t k = 0; k < one.k; ++k) {
        double product =
            a.floats()[at.offset + linear({i[0], k}, at.strides)] * right[static_cast<size_t>(k * one.n + i[1])];
        want += product;
        size += std::abs(product);
      }
      double tolerance = static_cast<double>(one.k + 2) * size * 0x1p-24;
      ASSERT_NEAR(c.floats()[where], want, tolerance) << one.name() << " at (" << i[0] << ", " << i[1] << ")";
    });
    for (size_t i = 0; i < before.size(); ++i)
      if (!isTile[i]) {
        ASSERT_EQ(c.floats()[i], before[i]) << one.name() << " wrote outside its tile, at element " << i;
      }
  }
};

TEST_P(CpuContractTest, AllPairsOfRowsAndColumnsInRotatingLayouts) {
  std::vector<Case> cases;
  for (size_t i = 0; i < oddSizes.size(); ++i)
    for (size_t j = 0; j < oddSizes.size(); ++j) {
      size_t turn = i * oddSizes.size() + j;
      cases.push_back({oddSizes[i], oddSizes[j], oddSizes[(3 * i + 5 * j) % oddSizes.size()],
                       static_cast<Left>(turn % 3), static_cast<Right>(turn / 3 % 3), turn % 2 == 1});
    }
  expectProducts(cases);
}

TEST_P(CpuContractTest, EveryDepthInEveryLayout) {
  std::vector<Case> cases;
  for (int64_t k : oddSizes)
    for (int layout = 0; layout < 9; ++layout)
      cases.push_back({13, 33, k, static_cast<Left>(layout % 3), static_cast<Right>(layout / 3), layout % 2 == 0});
  expectProducts(cases);
}

TEST_P(CpuContractTest, ADepthBeyondTheCacheAddsUp) {
  expectProducts({{9, 49, 5001, Left::rows, Right::panels, false},
                  {9, 49, 5001, Left::columns, Right::rows, true},
                  {2, 17, 12289, Left::rows, Right::rows, false}});
}

TEST_P(CpuContractTest, SizesThatFillWholeBlocks) {
  expectProducts({{64, 256, 256, Left::rows, Right::panels, false},
                  {64, 96, 64, Left::columns, Right::rows, true},
                  {24, 64, 8, Left::rows, Right::rows, false}});
}

INSTANTIATE_TEST_SUITE_P(, CpuContractTest, testing::ValuesIn(machines()), nameOf);

} // namespace
} // namespace burin::test
