// The polynomials of expand_math.cpp over the whole range of floats, against the C library in double precision.
#include <functional>

#include "tests/codegen/cpu/kernel.h"

namespace burin::test {
namespace {

struct Function {
  std::string name;
  std::function<double(double)> exact;
  double ulps; // the greatest error allowed where a multiply-add is one instruction; half a unit more where it is two
};

const std::vector<Function> functions = {
    {"exp", [](double x) { return std::exp(x); }, 1.1},        {"exp2", [](double x) { return std::exp2(x); }, 1.5},
    {"log", [](double x) { return std::log(x); }, 1.1},        {"tanh", [](double x) { return std::tanh(x); }, 2.0},
    {"erf", [](double x) { return std::erf(x); }, 1.6},        {"sqrt", [](double x) { return std::sqrt(x); }, 0.5},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 1.6},
};

constexpr int64_t count = 4096;
// An odd step through all 2^32 patterns: every exponent with every low bit, 2.1 million floats.
constexpr uint64_t step = 1999;

// The distance from the exact value in units of its last place; 0 where both are NaN, or the same infinity.
double ulpsOff(float got, double exact) {
  if (std::isnan(exact))
    return std::isnan(got) ? 0 : HUGE_VAL;
  float rounded = static_cast<float>(exact);
  if (got == rounded)
    return 0;
  if (std::isinf(rounded) && std::isfinite(exact) && std::isfinite(got))
    exact = std::copysign(0x1p128, exact); // halfway between the greatest float and what would follow it, or beyond
  if (std::isinf(got) && std::isfinite(exact))
    return std::abs(std::copysign(0x1p128, static_cast<double>(got)) - exact) / 0x1p104;
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::abs(got - exact) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

class CpuMathTest : public testing::TestWithParam<Machine> {
protected:
  void SetUp() override {
    if (!GetParam().isPresent())
      GTEST_SKIP() << "this machine has no " << GetParam().cpu;
  }

  static std::string nest(const std::string &function, int64_t elements) {
    TileText in{0, 0, {elements}, {1}}, out{1, 0, {elements}, {1}};
    return in.define("in") + out.define("out") +
           "linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = "
           "[\"parallel\"]} ins(%in : " +
           in.type() + ") outs(%out : " + out.type() + ") {\n^bb0(%x: f32, %o: f32):\n%y = math." + function +
           " %x : f32\nlinalg.yield %y : f32\n}\n";
  }
};

TEST_P(CpuMathTest, FunctionsAreExactToTheStatedErrorOverAllFloats) {
  Kernels kernels(GetParam());
  for (const Function &one : functions)
    kernels.add(one.name, {flatType(count), flatType(count)}, nest(one.name, count));
  ASSERT_NO_FATAL_FAILURE(kernels.compile());
  Buffer in(count), out(count);
  for (const Function &one : functions) {
    double worst = 0;
    float worstAt = 0;
    for (uint64_t pattern = 0; pattern < (uint64_t{1} << 32); pattern += step * count) {
      for (int64_t i = 0; i < count; ++i) {
        uint32_t bits = static_cast<uint32_t>(pattern + static_cast<uint64_t>(i) * step);
        std::memcpy(in.floats() + i, &bits, 4);
      }
      kernels.run(one.name, {&in, &out});
      for (int64_t i = 0; i < count; ++i) {
        double off = ulpsOff(out.floats()[i], one.exact(in.floats()[i]));
        if (!(off <= worst)) {
          worst = off;
          worstAt = in.floats()[i];
        }
      }
    }
    double allowed = one.ulps + (GetParam().lanes < 8 && one.ulps > 0.5 ? 0.5 : 0);
    EXPECT_LE(worst, allowed) << one.name << "(" << worstAt << ")";
    RecordProperty("ulps_" + one.name, std::to_string(worst));
  }
}

// What masks, overflow and underflow rest on.
TEST_P(CpuMathTest, EdgesAreThoseOfTheExactFunction) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float least = std::numeric_limits<float>::denorm_min(), most = std::numeric_limits<float>::max();
  const std::vector<float> edges = {0,       -0.0f,  infinity, -infinity, nan,     -nan,   least,   -least,
                                    most,    -most,  1,        -1,        88.7f,   88.8f,  -87.3f,  -103.9f,
                                    -104.1f, 127.9f, 128.0f,   -149.5f,   -150.5f, 0.625f, 0.9277f, 1e-40f};
  Kernels kernels(GetParam());
  int64_t n = static_cast<int64_t>(edges.size());
  for (const Function &one : functions)
    kernels.add(one.name, {flatType(n), flatType(n)}, nest(one.name, n));
  ASSERT_NO_FATAL_FAILURE(kernels.compile());
  Buffer in(n), out(n);
  std::copy(edges.begin(), edges.end(), in.floats());
  for (const Function &one : functions) {
    kernels.run(one.name, {&in, &out});
    for (int64_t i = 0; i < n; ++i)
      EXPECT_LE(ulpsOff(out.floats()[i], one.exact(edges[static_cast<size_t>(i)])), one.ulps + 0.5)
          << one.name << "(" << edges[static_cast<size_t>(i)] << ") gave " << out.floats()[i];
  }
  kernels.run("exp", {&in, &out});
  EXPECT_EQ(out.floats()[3], 0) << "exp(-inf) hides masked scores";
}

// A value that is the same for all lanes is computed by the same polynomial as one that is not.
TEST_P(CpuMathTest, ScalarsAndVectorsAgreeBitForBit) {
  Kernels kernels(GetParam());
  for (const Function &one : functions) {
    kernels.add(one.name, {flatType(count), flatType(count)}, nest(one.name, count));
    kernels.add(one.name + "_scalar", {flatType(count), flatType(count)},
                "%n = arith.constant " + std::to_string(count) +
                    " : index\nscf.for %i = %zero to %n step %one {\n%x = memref.load %0[%i] : " + flatType(count) +
                    "\n%y = math." + one.name + " %x : f32\nmemref.store %y, %1[%i] : " + flatType(count) + "\n}\n");
  }
  ASSERT_NO_FATAL_FAILURE(kernels.compile());
  Buffer in(count), vector(count), scalar(count);
  Random random(5);
  for (int64_t i = 0; i < count; ++i)
    in.floats()[i] = 10 * random.next();
  for (const Function &one : functions) {
    kernels.run(one.name, {&in, &vector});
    kernels.run(one.name + "_scalar", {&in, &scalar});
    for (int64_t i = 0; i < count; ++i)
      if (!std::isnan(vector.floats()[i])) {
        ASSERT_EQ(vector.floats()[i], scalar.floats()[i]) << one.name << "(" << in.floats()[i] << ")";
      }
  }
}

INSTANTIATE_TEST_SUITE_P(, CpuMathTest, testing::ValuesIn(machines()), nameOf);

} // namespace
} // namespace burin::test
