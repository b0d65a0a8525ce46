// Each class of instructions on many values against the same thing written another way.
#include "driver.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

namespace {

// One instruction on columns of 64-bit numbers: `d` of the given registers, a, b, c read from memory.
class Instructions : public Device {
protected:
  // bits: of d, a, b, c; the text names them d, a, b, c.
  std::vector<uint64_t> evaluate(const std::string &text, std::vector<int> bits,
                                 const std::vector<std::vector<uint64_t>> &columns) {
    const size_t count = columns[0].size();
    std::string body = ".reg .b" + std::to_string(bits[0]) + " d;";
    for (size_t i = 1; i < bits.size(); ++i)
      body += ".reg .b" + std::to_string(bits[i]) + " " + char('a' + i - 1) + ";";
    body += "mov.u32 %r1, %ctaid.x; shl.b32 %r1, %r1, 8; add.u32 %r1, %r1, %r0; mul.wide.u32 %rd4, %r1, 8;"
            "setp.ge.u32 %p1, %r1, " +
            std::to_string(count) + "; @%p1 bra END;";
    for (size_t i = 1; i < bits.size(); ++i)
      body += "add.s64 %rd5, %rd" + std::to_string(i) + ", %rd4; ld.global.b" + std::to_string(bits[i]) + " " +
              char('a' + i - 1) + ", [%rd5];";
    body += "\n" + text + "\n add.s64 %rd5, %rd0, %rd4; st.global.b" + std::to_string(bits[0]) + " [%rd5], d;\nEND:";
    std::vector<uint64_t> arguments = {upload(std::vector<uint64_t>(count, 0))};
    for (const auto &column : columns)
      arguments.push_back(upload(column));
    const CUfunction kernel = load(module(body));
    EXPECT_EQ(run(kernel, unsigned(count + 255) / 256, 256, arguments), CUDA_SUCCESS) << text << "\n" << said;
    return download<uint64_t>(arguments[0], count);
  }

  void expect(const std::string &text, std::vector<int> bits, const std::vector<std::vector<uint64_t>> &columns,
              const std::function<uint64_t(uint64_t, uint64_t, uint64_t)> &reference) {
    const std::vector<uint64_t> found = evaluate(text, bits, columns);
    for (size_t i = 0; i < found.size(); ++i) {
      const uint64_t a = columns[0][i], b = columns.size() > 1 ? columns[1][i] : 0,
                     c = columns.size() > 2 ? columns[2][i] : 0;
      const uint64_t mask = bits[0] == 64 ? ~uint64_t(0) : (uint64_t(1) << bits[0]) - 1;
      ASSERT_EQ(found[i], reference(a, b, c) & mask) << text << std::hex << " of " << a << ", " << b << ", " << c;
    }
  }

  // Corners and random numbers; pairs meet all corners with all.
  static std::vector<std::vector<uint64_t>> integers(int columns) {
    const std::vector<uint64_t> corners = {0,
                                           1,
                                           2,
                                           31,
                                           32,
                                           33,
                                           63,
                                           64,
                                           255,
                                           0x7fff,
                                           0x8000,
                                           0xffff,
                                           0x7fffffff,
                                           0x80000000,
                                           0xffffffff,
                                           0x7fffffffffffffff,
                                           0x8000000000000000,
                                           ~uint64_t(0),
                                           0x8000000080008000};
    return mixed(corners, columns, [](std::mt19937_64 &random) { return random(); });
  }
  static std::vector<std::vector<uint64_t>> floats(int columns) {
    std::vector<uint64_t> corners;
    for (const float x : {0.0f,      -0.0f,  1.0f,          -1.0f,           0.5f,    1.5f,       2.5f,
                          -2.5f,     1e-40f, -1e-40f,       1.17549435e-38f, 3.4e38f, -3.4e38f,   INFINITY,
                          -INFINITY, NAN,    2147483648.0f, 4294967296.0f,   0.3f,    16777217.0f})
      corners.push_back(std::bit_cast<uint32_t>(x));
    return mixed(corners, columns, [](std::mt19937_64 &random) {
      return (uint64_t)std::bit_cast<uint32_t>(
          std::ldexp((float)(int32_t)random() / 2147483648.0f, (int)(random() % 60) - 30));
    });
  }
  static std::vector<std::vector<uint64_t>> mixed(const std::vector<uint64_t> &corners, int columns,
                                                  const std::function<uint64_t(std::mt19937_64 &)> &draw) {
    std::mt19937_64 random(7);
    std::vector<std::vector<uint64_t>> result(columns);
    for (const uint64_t a : corners)
      for (const uint64_t b : corners)
        for (int c = 0; c < columns; ++c)
          result[c].push_back(c == 0 ? a : c == 1 ? b : corners[random() % corners.size()]);
    for (int i = 0; i < 400; ++i)
      for (auto &column : result)
        column.push_back(draw(random));
    return result;
  }
};

float f(uint64_t bits) { return std::bit_cast<float>((uint32_t)bits); }
uint64_t u(float x) { return std::isnan(x) ? 0x7fffffff : std::bit_cast<uint32_t>(x); }
float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

TEST_F(Instructions, IntegerArithmetic) {
  const auto two = integers(2), three = integers(3);
  expect("add.s32 d, a, b;", {32, 32, 32}, two, [](uint64_t a, uint64_t b, uint64_t) { return a + b; });
  expect("add.s64 d, a, b;", {64, 64, 64}, two, [](uint64_t a, uint64_t b, uint64_t) { return a + b; });
  expect("sub.s16 d, a, b;", {16, 16, 16}, two, [](uint64_t a, uint64_t b, uint64_t) { return a - b; });
  expect("mul.lo.s32 d, a, b;", {32, 32, 32}, two, [](uint64_t a, uint64_t b, uint64_t) { return a * b; });
  expect("mul.lo.s16 d, a, b;", {16, 16, 16}, two, [](uint64_t a, uint64_t b, uint64_t) { return a * b; });
  expect("mul.hi.u32 d, a, b;", {32, 32, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return (a & 0xffffffff) * (b & 0xffffffff) >> 32; });
  expect("mul.hi.s32 d, a, b;", {32, 32, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return (uint64_t)((int64_t)(int32_t)a * (int32_t)b >> 32); });
  expect("mul.hi.u64 d, a, b;", {64, 64, 64}, two, [](uint64_t a, uint64_t b, uint64_t) {
    const uint64_t al = a & 0xffffffff, ah = a >> 32, bl = b & 0xffffffff, bh = b >> 32; // long multiplication
    const uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh + (middle & 0xffffffff);
    return ah * bh + (middle >> 32) + (other >> 32);
  });
  expect("mul.wide.s32 d, a, b;", {64, 32, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return (uint64_t)((int64_t)(int32_t)a * (int32_t)b); });
  expect("mul.wide.u16 d, a, b;", {32, 16, 16}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return (a & 0xffff) * (b & 0xffff); });
  expect("mad.wide.u32 d, a, b, c;", {64, 32, 32, 64}, three,
         [](uint64_t a, uint64_t b, uint64_t c) { return (a & 0xffffffff) * (b & 0xffffffff) + c; });
  expect("mad.lo.s32 d, a, b, c;", {32, 32, 32, 32}, three,
         [](uint64_t a, uint64_t b, uint64_t c) { return a * b + c; });
  // Division by zero: all bits; the remainder is the dividend. The least number over -1 wraps.
  expect("div.s32 d, a, b;", {32, 32, 32}, two, [](uint64_t a, uint64_t b, uint64_t) {
    return (int32_t)b == 0 ? ~uint64_t(0) : (uint64_t)((int64_t)(int32_t)a / (int32_t)b);
  });
  expect("div.u64 d, a, b;", {64, 64, 64}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return b == 0 ? ~uint64_t(0) : a / b; });
  expect("rem.s32 d, a, b;", {32, 32, 32}, two, [](uint64_t a, uint64_t b, uint64_t) {
    return (int32_t)b == 0 ? a : (uint64_t)((int64_t)(int32_t)a % (int32_t)b);
  });
  expect("rem.u32 d, a, b;", {32, 32, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return (uint32_t)b == 0 ? a : (uint32_t)a % (uint32_t)b; });
  expect("min.s32 d, a, b;", {32, 32, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return (uint64_t)std::min((int32_t)a, (int32_t)b); });
  expect("max.u64 d, a, b;", {64, 64, 64}, two, [](uint64_t a, uint64_t b, uint64_t) { return std::max(a, b); });
  expect("abs.s32 d, a;", {32, 32}, integers(1),
         [](uint64_t a, uint64_t, uint64_t) { return (int32_t)a < 0 ? -a : a; });
  expect("neg.s64 d, a;", {64, 64}, integers(1), [](uint64_t a, uint64_t, uint64_t) { return -a; });
  expect("add.sat.s32 d, a, b;", {32, 32, 32}, two, [](uint64_t a, uint64_t b, uint64_t) {
    const int64_t sum = (int64_t)(int32_t)a + (int32_t)b;
    return (uint64_t)(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
  });
  expect(".reg .b32 x, y, z, w, v, s; mov.b64 {x, y}, a; mov.b64 {z, w}, b; add.cc.u32 v, x, z; addc.u32 s, y, w; "
         "mov.b64 d, {v, s};",
         {64, 64, 64}, two, [](uint64_t a, uint64_t b, uint64_t) { return a + b; });
}

TEST_F(Instructions, Bits) {
  const auto two = integers(2), three = integers(3);
  expect("xor.b64 d, a, b;", {64, 64, 64}, two, [](uint64_t a, uint64_t b, uint64_t) { return a ^ b; });
  expect("not.b32 d, a;", {32, 32}, integers(1), [](uint64_t a, uint64_t, uint64_t) { return ~a; });
  // Shifts clamp instead of wrapping.
  expect("shl.b32 d, a, b;", {32, 32, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return (uint32_t)b > 31 ? 0 : a << (uint32_t)b; });
  expect("shr.u32 d, a, b;", {32, 32, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return (uint32_t)b > 31 ? 0 : (uint32_t)a >> (uint32_t)b; });
  expect("shr.s32 d, a, b;", {32, 32, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return (uint64_t)((int32_t)a >> std::min((uint32_t)b, 31u)); });
  expect("shl.b64 d, a, b;", {64, 64, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return (uint32_t)b > 63 ? 0 : a << (uint32_t)b; });
  expect("shr.s16 d, a, b;", {16, 16, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return (uint64_t)((int16_t)a >> std::min((uint32_t)b, 15u)); });
  expect("shf.l.wrap.b32 d, a, b, c;", {32, 32, 32, 32}, three, [](uint64_t a, uint64_t b, uint64_t c) {
    const int n = c & 31;
    return n ? (uint32_t)b << n | (uint32_t)a >> (32 - n) : (uint32_t)b;
  });
  expect("popc.b64 d, a;", {32, 64}, integers(1), [](uint64_t a, uint64_t, uint64_t) {
    int count = 0;
    for (; a; a &= a - 1)
      ++count;
    return (uint64_t)count;
  });
  expect("clz.b32 d, a;", {32, 32}, integers(1), [](uint64_t a, uint64_t, uint64_t) {
    int count = 0;
    while (count < 32 && !(a >> (31 - count) & 1))
      ++count;
    return (uint64_t)count;
  });
  expect("bfe.u32 d, a, b, c;", {32, 32, 32, 32}, three, [](uint64_t a, uint64_t b, uint64_t c) {
    const uint32_t position = b & 0xff, length = c & 0xff;
    const uint64_t shifted = position > 31 ? 0 : (a & 0xffffffff) >> position;
    return length > 31 ? shifted : shifted & ((uint64_t(1) << length) - 1);
  });
  expect("bfe.s32 d, a, 4, 8;", {32, 32}, integers(1),
         [](uint64_t a, uint64_t, uint64_t) { return (uint64_t)(int8_t)(a >> 4); });
  expect("bfi.b32 d, a, b, 8, 4;", {32, 32, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return (b & ~0xf00ull) | (a & 15) << 8; });
  expect("prmt.b32 d, a, b, c;", {32, 32, 32, 32}, three, [](uint64_t a, uint64_t b, uint64_t c) {
    uint64_t result = 0;
    for (int i = 0; i < 4; ++i) {
      const int nibble = c >> 4 * i & 15, k = nibble & 7;
      uint64_t byte = (k < 4 ? a >> 8 * k : b >> 8 * (k - 4)) & 0xff;
      if (nibble & 8)
        byte = byte >= 128 ? 255 : 0;
      result |= byte << 8 * i;
    }
    return result;
  });
  expect("lop3.b32 d, a, b, c, 0xCA;", {32, 32, 32, 32}, three,
         [](uint64_t a, uint64_t b, uint64_t c) { return (a & b) | (~a & c); });
}

TEST_F(Instructions, FloatArithmetic) {
  const auto two = floats(2), three = floats(3);
  expect("add.rn.f32 d, a, b;", {32, 32, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return u((float)((double)f(a) + (double)f(b))); });
  expect("sub.rn.f32 d, a, b;", {32, 32, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return u((float)((double)f(a) - (double)f(b))); });
  expect("mul.rn.f32 d, a, b;", {32, 32, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return u((float)((double)f(a) * (double)f(b))); });
  expect("mul.rn.ftz.f32 d, a, b;", {32, 32, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return u(flush((float)((double)flush(f(a)) * (double)flush(f(b))))); });
  expect("fma.rn.f32 d, a, b, c;", {32, 32, 32, 32}, three,
         [](uint64_t a, uint64_t b, uint64_t c) { return u(std::fma(f(a), f(b), f(c))); });
  expect("fma.rn.ftz.f32 d, a, b, c;", {32, 32, 32, 32}, three,
         [](uint64_t a, uint64_t b, uint64_t c) { return u(flush(std::fma(flush(f(a)), flush(f(b)), flush(f(c))))); });
  expect("mul.rn.sat.f32 d, a, b;", {32, 32, 32}, two, [](uint64_t a, uint64_t b, uint64_t) {
    const float x = f(a) * f(b);
    return u(std::isnan(x) || x <= 0 ? 0.0f : x > 1 ? 1.0f : x);
  });
  expect("div.rn.f32 d, a, b;", {32, 32, 32}, two, [](uint64_t a, uint64_t b, uint64_t) { return u(f(a) / f(b)); });
  expect("sqrt.rn.f32 d, a;", {32, 32}, floats(1), [](uint64_t a, uint64_t, uint64_t) { return u(std::sqrt(f(a))); });
  expect("rcp.rn.f32 d, a;", {32, 32}, floats(1), [](uint64_t a, uint64_t, uint64_t) { return u(1 / f(a)); });
  // A NaN loses against a number, wins with .NaN; -0 is less than +0.
  const auto least = [](float x, float y) {
    return std::isnan(x) ? y : std::isnan(y) ? x : x == y ? (std::signbit(x) ? x : y) : std::min(x, y);
  };
  expect("min.f32 d, a, b;", {32, 32, 32}, two, [&](uint64_t a, uint64_t b, uint64_t) { return u(least(f(a), f(b))); });
  expect("max.f32 d, a, b;", {32, 32, 32}, two,
         [&](uint64_t a, uint64_t b, uint64_t) { return u(-least(-f(a), -f(b))); });
  expect("max.NaN.f32 d, a, b;", {32, 32, 32}, two, [&](uint64_t a, uint64_t b, uint64_t) {
    return std::isnan(f(a)) || std::isnan(f(b)) ? 0x7fffffff : u(-least(-f(a), -f(b)));
  });
  expect("copysign.f32 d, a, b;", {32, 32, 32}, two,
         [](uint64_t a, uint64_t b, uint64_t) { return (a & 0x80000000) | (b & 0x7fffffff); });
  expect(".reg .f64 x, y; cvt.f64.f32 x, a; cvt.f64.f32 y, b; div.rn.f64 x, x, y; cvt.rn.f32.f64 d, x;", {32, 32, 32},
         two, [](uint64_t a, uint64_t b, uint64_t) { return u((float)((double)f(a) / (double)f(b))); });
}

// Approximations lie within the bounds that the manual gives, in steps of the last place.
TEST_F(Instructions, FloatApproximations) {
  std::vector<uint64_t> column;
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i)
    column.push_back(u((float)(int32_t)random() / 2147483648.0f * 20));
  const auto check = [&](const std::string &text, double (*reference)(double), double tolerance) {
    const std::vector<uint64_t> found = evaluate(text, {32, 32}, {column});
    for (size_t i = 0; i < column.size(); ++i) {
      const double expected = reference(f(column[i]));
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(f(found[i])));
        continue;
      }
      ASSERT_NEAR(f(found[i]), expected, tolerance * std::fabs(expected)) << text << " of " << f(column[i]);
    }
  };
  check(
      "ex2.approx.ftz.f32 d, a;", [](double x) { return std::exp2(x); }, 1e-7);
  check(
      "lg2.approx.f32 d, a;", [](double x) { return std::log2(x); }, 1e-7);
  check(
      "rsqrt.approx.f32 d, a;", [](double x) { return 1 / std::sqrt(x); }, 1e-7);
  check(
      "tanh.approx.f32 d, a;", [](double x) { return std::tanh(x); }, 1e-7);
  check(
      "sin.approx.f32 d, a;", [](double x) { return std::sin(x); }, 1e-7);
}

TEST_F(Instructions, Comparisons) {
  const auto two = floats(2);
  const auto one = [&](const std::string &name, const std::function<bool(float, float)> &reference) {
    expect("setp." + name + ".f32 %p2, a, b; selp.b32 d, 1, 0, %p2;", {32, 32, 32}, two,
           [&](uint64_t a, uint64_t b, uint64_t) { return (uint64_t)reference(f(a), f(b)); });
  };
  const auto unordered = [](float a, float b) { return std::isnan(a) || std::isnan(b); };
  one("eq", [&](float a, float b) { return !unordered(a, b) && !(a < b) && !(a > b); });
  one("ne", [&](float a, float b) { return a < b || a > b; });
  one("lt", [&](float a, float b) { return a < b; });
  one("ge", [&](float a, float b) { return a >= b; });
  one("equ", [&](float a, float b) { return unordered(a, b) || a == b; });
  one("neu", [&](float a, float b) { return unordered(a, b) || a != b; });
  one("ltu", [&](float a, float b) { return unordered(a, b) || a < b; });
  one("num", [&](float a, float b) { return !unordered(a, b); });
  one("nan", [&](float a, float b) { return unordered(a, b); });
  expect("setp.lt.s32 %p2, a, b; selp.b32 d, 1, 0, %p2;", {32, 32, 32}, integers(2),
         [](uint64_t a, uint64_t b, uint64_t) { return (uint64_t)((int32_t)a < (int32_t)b); });
  expect("setp.hi.u64 %p2, a, b; selp.b32 d, 1, 0, %p2;", {32, 64, 64}, integers(2),
         [](uint64_t a, uint64_t b, uint64_t) { return (uint64_t)(a > b); });
  // Joined with another predicate; the second result is of the comparison's opposite.
  expect("setp.ne.b32 %p3, c, 0; setp.lt.and.s32 %p2|%p4, a, b, %p3; selp.b32 d, 1, 0, %p2; @%p4 add.s32 d, d, 2;",
         {32, 32, 32, 32}, integers(3), [](uint64_t a, uint64_t b, uint64_t c) {
           const bool less = (int32_t)a < (int32_t)b, other = (uint32_t)c != 0;
           return (uint64_t)(less && other) + 2 * (uint64_t)(!less && other);
         });
  expect("testp.subnormal.f32 %p2, a; selp.b32 d, 1, 0, %p2;", {32, 32}, floats(1),
         [](uint64_t a, uint64_t, uint64_t) { return (uint64_t)((a & 0x7f800000) == 0 && (a & 0x7fffff) != 0); });
}

TEST_F(Instructions, Conversions) {
  const auto one = floats(1);
  // Out of range saturates, NaN becomes 0.
  const auto clamp = [](double x, double least, double greatest) {
    return std::isnan(x) ? 0.0 : x < least ? least : x > greatest ? greatest : x;
  };
  expect("cvt.rzi.s32.f32 d, a;", {32, 32}, one, [&](uint64_t a, uint64_t, uint64_t) {
    return (uint64_t)(int64_t)clamp(std::trunc(f(a)), -2147483648.0, 2147483647.0);
  });
  expect("cvt.rni.s32.f32 d, a;", {32, 32}, one, [&](uint64_t a, uint64_t, uint64_t) {
    return (uint64_t)(int64_t)clamp(std::nearbyint((double)f(a)), -2147483648.0, 2147483647.0);
  });
  expect("cvt.rmi.u32.f32 d, a;", {32, 32}, one,
         [&](uint64_t a, uint64_t, uint64_t) { return (uint64_t)clamp(std::floor(f(a)), 0, 4294967295.0); });
  expect("cvt.rmi.f32.f32 d, a;", {32, 32}, one, [&](uint64_t a, uint64_t, uint64_t) { return u(std::floor(f(a))); });
  expect("cvt.rpi.f32.f32 d, a;", {32, 32}, one, [&](uint64_t a, uint64_t, uint64_t) { return u(std::ceil(f(a))); });
  const auto whole = integers(1);
  expect("cvt.rn.f32.s32 d, a;", {32, 32}, whole,
         [](uint64_t a, uint64_t, uint64_t) { return u((float)(double)(int32_t)a); });
  expect("cvt.rn.f32.u64 d, a;", {32, 64}, whole, [](uint64_t a, uint64_t, uint64_t) { return u((float)a); });
  expect("cvt.rn.f32.u8 d, a;", {32, 32}, whole, [](uint64_t a, uint64_t, uint64_t) { return u((float)(a & 0xff)); });
  expect("cvt.s64.s32 d, a;", {64, 32}, whole,
         [](uint64_t a, uint64_t, uint64_t) { return (uint64_t)(int64_t)(int32_t)a; });
  expect("cvt.u64.u32 d, a;", {64, 32}, whole, [](uint64_t a, uint64_t, uint64_t) { return a & 0xffffffff; });
  expect("cvt.u32.u64 d, a;", {32, 64}, whole, [](uint64_t a, uint64_t, uint64_t) { return a; });
  expect("cvt.s32.s8 d, a;", {32, 32}, whole, [](uint64_t a, uint64_t, uint64_t) { return (uint64_t)(int8_t)a; });
  expect("cvt.s16.s8 d, a;", {16, 32}, whole, [](uint64_t a, uint64_t, uint64_t) { return (uint64_t)(int8_t)a; });
  expect("cvt.sat.u8.s32 d, a;", {32, 32}, whole,
         [](uint64_t a, uint64_t, uint64_t) { return (uint64_t)std::min(std::max((int32_t)a, 0), 255); });
}

// The nearest of all 65536 numbers of a small type by distance alone, a tie going to the even one.
uint16_t nearest(double x, const std::vector<double> &all, uint16_t infinite, double limit) {
  if (std::isnan(x))
    return 0x7fff;
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double size = std::fabs(x);
  if (size >= limit)
    return sign | infinite;
  const auto above = std::lower_bound(all.begin(), all.begin() + infinite, size);
  uint16_t code = uint16_t(above - all.begin());
  if (code == infinite)
    return sign | (infinite - 1);
  if (code > 0) {
    const double up = all[code] - size, down = size - all[code - 1];
    if (down < up || (down == up && code % 2))
      --code;
  }
  return sign | code;
}

TEST_F(Instructions, SmallFloats) {
  // All numbers of both types.
  std::vector<uint64_t> codes(65536);
  for (size_t i = 0; i < codes.size(); ++i)
    codes[i] = i;
  std::vector<double> bf16(65536), f16(65536);
  for (uint32_t i = 0; i < 65536; ++i) {
    bf16[i] = std::bit_cast<float>(i << 16);
    const int exponent = i >> 10 & 31, mantissa = i & 1023;
    const double size = exponent == 31 ? (mantissa ? NAN : INFINITY)
                        : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                                       : std::ldexp(mantissa, -24);
    f16[i] = i & 0x8000 ? -size : size;
  }
  expect("cvt.f32.bf16 d, a;", {32, 16}, {codes}, [&](uint64_t a, uint64_t, uint64_t) { return u((float)bf16[a]); });
  expect("cvt.f32.f16 d, a;", {32, 16}, {codes}, [&](uint64_t a, uint64_t, uint64_t) { return u((float)f16[a]); });
  // Each number, each tie between two, and what lies just beside the ties.
  std::vector<uint64_t> values;
  for (uint32_t i = 0; i < 65536; ++i)
    for (const uint32_t low : {0u, 0x7fffu, 0x8000u, 0x8001u})
      values.push_back(i << 16 | low);
  expect("cvt.rn.bf16.f32 d, a;", {16, 32}, {values},
         [&](uint64_t a, uint64_t, uint64_t) { return (uint64_t)nearest(f(a), bf16, 0x7f80, std::ldexp(511.0, 119)); });
  std::vector<uint64_t> halves;
  for (uint32_t i = 0; i < 0x7c00; ++i)
    for (const int beside : {-1, 0, 1}) {
      const float middle = (float)((f16[i] + (i + 1 < 0x7c00 ? f16[i + 1] : 65536.0)) / 2);
      halves.push_back(std::bit_cast<uint32_t>(middle) + beside);
      halves.push_back((std::bit_cast<uint32_t>(middle) + beside) | 0x80000000);
    }
  expect("cvt.rn.f16.f32 d, a;", {16, 32}, {halves},
         [&](uint64_t a, uint64_t, uint64_t) { return (uint64_t)nearest(f(a), f16, 0x7c00, 65520.0); });
  expect("cvt.rn.bf16x2.f32 d, a, b;", {32, 32, 32}, floats(2), [&](uint64_t a, uint64_t b, uint64_t) {
    return (uint64_t)nearest(f(a), bf16, 0x7f80, std::ldexp(511.0, 119)) << 16 |
           nearest(f(b), bf16, 0x7f80, std::ldexp(511.0, 119));
  });
  std::vector<std::vector<uint64_t>> three(3);
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i)
    for (auto &column : three)
      column.push_back(random() % 65536);
  const auto exact = [&](const std::vector<double> &all, uint64_t a, uint64_t b, uint64_t c) {
    return (long double)all[a] * all[b] + all[c];
  };
  expect("fma.rn.bf16 d, a, b, c;", {16, 16, 16, 16}, three, [&](uint64_t a, uint64_t b, uint64_t c) {
    // What a double cannot hold moves it a last place towards the exact sum, which no tie of 8 bits survives.
    const long double product = (long double)bf16[a] * bf16[b], sum = exact(bf16, a, b, c);
    const long double back = sum - product, lost = (product - (sum - back)) + (bf16[c] - back);
    double value = (double)sum;
    const long double error = (sum - value) + lost;
    if (std::isfinite(value) && error != 0)
      value = std::nextafter(value, error > 0 ? INFINITY : -INFINITY);
    return (uint64_t)nearest(value, bf16, 0x7f80, std::ldexp(511.0, 119));
  });
  expect("add.rn.f16 d, a, b;", {16, 16, 16}, {three[0], three[1]},
         [&](uint64_t a, uint64_t b, uint64_t) { return (uint64_t)nearest(f16[a] + f16[b], f16, 0x7c00, 65520.0); });
  expect("neg.bf16x2 d, a;", {32, 32}, integers(1), [](uint64_t a, uint64_t, uint64_t) { return a ^ 0x80008000; });
}

TEST_F(Instructions, MovesAndMemory) {
  expect(".reg .b16 x, y; mov.b32 {x, y}, a; mov.b32 d, {y, x};", {32, 32}, integers(1),
         [](uint64_t a, uint64_t, uint64_t) { return a << 16 | (a >> 16 & 0xffff); });
  // Through local memory at an address of each thread, in generic form.
  const CUdeviceptr out = upload(std::vector<uint32_t>(64, 0));
  const CUfunction kernel =
      load(module(".local .align 16 .b8 depot[64]; .reg .b64 sp, spl; mov.b64 spl, depot; cvta.local.u64 sp, spl;"
                  "and.b32 %r1, %r0, 3; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, sp, %rd4; add.s32 %r2, %r0, 100; "
                  "st.b32 [%rd5], %r2;"
                  "add.s64 %rd6, spl, %rd4; ld.local.b32 %r3, [%rd6];"
                  "mul.wide.u32 %rd4, %r0, 4; add.s64 %rd5, %rd0, %rd4; st.global.b32 [%rd5], %r3;"));
  ASSERT_EQ(run(kernel, 1, 64, {out}), CUDA_SUCCESS) << said;
  const auto found = download<uint32_t>(out, 64);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(found[i], i + 100);
  // Vectors, narrow types into wide registers, constants and initialised variables.
  const CUdeviceptr bytes = upload(std::vector<uint8_t>{1, 0xff, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  const CUfunction other =
      load(module("ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1]; ld.global.s8 %r5, [%rd1+1]; ld.global.u8 %r6, "
                  "[%rd1+1]; ld.const.b32 %r7, [table+4]; ld.global.b32 %r8, [value];"
                  "setp.ne.s32 %p1, %r0, 0; @%p1 bra END;"
                  "st.global.v4.b32 [%rd0], {%r1, %r2, %r3, %r4}; st.global.v2.b32 [%rd0+16], {%r5, %r6}; "
                  "st.global.v2.b32 [%rd0+24], {%r7, %r8}; END:",
                  ".const .align 4 .b8 table[8] = {1, 0, 0, 0, 2, 1, 0, 0};\n.global .align 4 .u32 value = 77;"));
  ASSERT_EQ(run(other, 1, 32, {out, bytes}), CUDA_SUCCESS) << said;
  EXPECT_EQ(download<uint32_t>(out, 8),
            (std::vector<uint32_t>{0x0403ff01, 0x08070605, 0x0c0b0a09, 0x100f0e0d, 0xffffffff, 0xff, 0x102, 77}));
}

// Registers that share a place must not disturb each other: many lives, wide and narrow ones, in a loop with branches.
TEST_F(Instructions, RegistersKeepTheirValues) {
  std::string body = "mov.u32 %r1, 0; mov.u64 %rd4, 1; mov.u32 %r20, 0;\nLOOP:\n"
                     "cvt.u64.u32 %rd5, %r1; mad.lo.u64 %rd4, %rd4, 3, %rd5; and.b32 %r2, %r0, 1; setp.eq.u32 %p1, "
                     "%r2, 0; @%p1 bra EVEN;\n"
                     "cvt.u32.u64 %r3, %rd4; shr.u64 %rd6, %rd4, 3; cvt.u32.u64 %r4, %rd6; xor.b32 %r20, %r20, %r3; "
                     "add.u32 %r20, %r20, %r4; bra.uni JOIN;\n"
                     "EVEN: cvt.u16.u64 %rs1, %rd4; cvt.u32.u16 %r5, %rs1; mad.lo.u32 %r20, %r20, 5, %r5;\n"
                     "JOIN: add.u32 %r1, %r1, 1; add.u32 %r6, %r0, 3; setp.lt.u32 %p2, %r1, %r6; @%p2 bra LOOP;\n"
                     "mul.wide.u32 %rd7, %r0, 4; add.s64 %rd7, %rd0, %rd7; st.global.b32 [%rd7], %r20;";
  const CUdeviceptr out = upload(std::vector<uint32_t>(64, 0));
  ASSERT_EQ(run(load(module(body)), 1, 64, {out}), CUDA_SUCCESS) << said;
  const auto found = download<uint32_t>(out, 64);
  for (uint32_t thread = 0; thread < 64; ++thread) {
    uint64_t x = 1;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < thread + 3; ++i) {
      x = x * 3 + i;
      if (thread & 1) {
        sum ^= (uint32_t)x;
        sum += (uint32_t)(x >> 3);
      } else {
        sum = sum * 5 + (uint16_t)x;
      }
    }
    EXPECT_EQ(found[thread], sum) << thread;
  }
}

TEST_F(Instructions, WhatIsNotKnownIsAnErrorThatNamesTheLine) {
  std::string log;
  for (const char *const text :
       {"frobnicate.b32 %r1, %r2;", "add.rz.f32 %r1, %r2, %r3;", "ld.global.b32.magic %r1, [%rd0];",
        "add.s32 %r1, %r2, %rd3;", "add.s32 %r1, %r2;", "bra NOWHERE;", "mov.u32 %r1, %unheard_of;",
        "atom.global.add.u32 %r1, [%rd0], 1;", "call foo;", "fence.proxy.alias;"}) {
    const std::string ptx = module(std::string("\n") + text);
    EXPECT_EQ(tryLoad(ptx, &log), CUDA_ERROR_INVALID_PTX) << text;
    EXPECT_NE(log.find("line "), std::string::npos) << log;
    const int line = 1 + (int)std::count(ptx.begin(), ptx.begin() + (long)ptx.find(text), '\n');
    EXPECT_TRUE(log.starts_with("line " + std::to_string(line) + ":")) << text << "\n" << log;
  }
}

// What ptxas would refuse for the .target is refused here, too.
TEST_F(Instructions, WhatTheTargetLacksIsRefused) {
  close();
  open({{"BURIN_SIMT_ARCH", "90"}});
  std::string log;
  for (const char *const text :
       {"add.rn.bf16 %rs1, %rs2, %rs3;", "mul.rn.bf16x2 %r1, %r2, %r3;", "setp.lt.bf16 %p1, %rs1, %rs2;",
        "cvt.rzi.s32.bf16 %r1, %rs1;", "cvt.rn.bf16.s32 %rs1, %r1;", "cvt.rn.tf32.f32 %r1, %r2;",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], %r2;"}) {
    EXPECT_EQ(tryLoad(module(text, "", "sm_80"), &log), CUDA_ERROR_INVALID_PTX) << text;
    EXPECT_NE(log.find("needs .target sm_90, found sm_80"), std::string::npos) << log;
    EXPECT_EQ(tryLoad(module(text, "", "sm_90"), &log), CUDA_SUCCESS) << text << log;
  }
}

} // namespace
