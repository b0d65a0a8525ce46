// Matrices spread over the lanes of a warp. The tables of which lane holds what are the formulas of the PTX manual,
// chapter "Warp Level Matrix Multiply-Accumulate Instructions"; nothing here is shared with the compiler.
#include "../driver_codes.h"
#include "handlers.h"
#include "small_float.h"

namespace simt {
namespace {

// count 8x8 matrices of 16-bit elements; lane 8 m + r has the address of row r of matrix m.
// r: results, address.
template <bool Transposed> void loadMatrices(Warp &warp, const Instruction &in, Mask) {
  const int count = in.count;
  uint8_t *rows[LANES];
  const Mask lanes = count == 4 ? ALL : (Mask(1) << 8 * count) - 1;
  warp.resolve(in, in.r[count], lanes, 16, false, rows);
  // Lane 4 r + k has the elements 2 k and 2 k + 1 of row r, or of column r where transposed.
  uint16_t result[4][8][8];
  for (int m = 0; m < count; ++m)
    for (int row = 0; row < 8; ++row) {
      uint16_t elements[8];
      std::memcpy(elements, rows[8 * m + row], sizeof elements);
      if constexpr (Transposed)
        for (int column = 0; column < 8; ++column)
          result[m][column][row] = elements[column];
      else
        std::memcpy(result[m][row], elements, sizeof elements);
    }
  for (int m = 0; m < count; ++m)
    std::memcpy(warp.at<uint32_t>(in.r[m]), result[m], sizeof result[m]);
}

template <bool Transposed> void storeMatrices(Warp &warp, const Instruction &in, Mask) {
  const int count = in.count;
  uint8_t *rows[LANES];
  const Mask lanes = count == 4 ? ALL : (Mask(1) << 8 * count) - 1;
  warp.resolve(in, in.r[0], lanes, 16, true, rows);
  for (int m = 0; m < count; ++m) {
    const uint32_t *const values = warp.at<uint32_t>(in.r[1 + m]);
    for (int lane = 0; lane < LANES; ++lane)
      for (int e = 0; e < 2; ++e) {
        const int row = Transposed ? 2 * (lane % 4) + e : lane / 4, column = Transposed ? lane / 4 : 2 * (lane % 4) + e;
        const uint16_t element = uint16_t(values[lane] >> 16 * e);
        std::memcpy(rows[8 * m + row] + 2 * column, &element, 2);
      }
  }
}

void matrixMemory(Decoder &to, Modifiers words, bool loads) {
  if (!loads)
    to.needs(90);
  std::string count;
  if (!words.take("sync") || !words.take("aligned") || !words.take("m8n8") ||
      !words.takeAny({"x1", "x2", "x4"}, &count))
    words.unknown();
  const bool transposed = words.take("trans");
  if (!words.takeAny({"shared", "shared::cta"}) || !words.take("b16"))
    words.unknown();
  words.done();
  to.expectOperands(2);
  const ptx::Operand &list = to.operand(loads ? 0 : 1);
  const std::vector<ptx::Operand> items = list.kind == ptx::Operand::VECTOR ? list.items : std::vector{list};
  const size_t n = count[1] - '0';
  if (items.size() != n)
    to.error(std::to_string(items.size()) + " registers for " + std::to_string(n) + " matrices");
  const Decoder::Address address = to.address(to.operand(loads ? 1 : 0));
  std::vector<Ref> refs;
  for (const ptx::Operand &item : items)
    refs.push_back(loads ? to.define(item, 4) : to.use(item, 4));
  if (!loads)
    refs.insert(refs.begin(), address.base);
  Instruction &in = loads ? to.emit(transposed ? loadMatrices<true> : loadMatrices<false>, refs, {address.base})
                          : to.emit(transposed ? storeMatrices<true> : storeMatrices<false>, {}, refs);
  in.kind = Kind::COLLECTIVE;
  in.space = SHARED;
  in.imm = address.offset;
  in.narrow = address.narrow;
  in.count = (uint8_t)n;
  to.noteAccess(SHARED, 16);
}

// Where an element of a fragment lies; `group` is lane / 4, `member` lane % 4.
struct Place {
  int row, column;
};
// 16-bit elements, two to a register: A of 16 x K.
constexpr Place placeOfA16(int lane, int i) {
  const int group = lane / 4, member = lane % 4;
  return {i % 4 < 2 ? group : group + 8, member * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
// B of K x 8.
constexpr Place placeOfB16(int lane, int i) {
  const int group = lane / 4, member = lane % 4;
  return {member * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
}
// 32-bit elements.
constexpr Place placeOfA32(int lane, int i) {
  const int group = lane / 4, member = lane % 4;
  return {i % 2 == 0 ? group : group + 8, i < 2 ? member : member + 4};
}
constexpr Place placeOfB32(int lane, int i) {
  const int group = lane / 4, member = lane % 4;
  return {i == 0 ? member : member + 4, group};
}
// Accumulators in f32, 16 x 8.
constexpr Place placeOfC(int lane, int i) {
  const int group = lane / 4, member = lane % 4;
  return {i < 2 ? group : group + 8, member * 2 + (i & 1)};
}

// For each element of a lane and each lane, where it stands in a matrix whose rows have `stride` elements.
template <int N> using Places = std::array<std::array<uint8_t, LANES>, N>;
template <int N> constexpr Places<N> tableOf(Place (*place)(int, int), int rowStride, int columnStride) {
  Places<N> table = {};
  for (int i = 0; i < N; ++i)
    for (int lane = 0; lane < LANES; ++lane)
      table[i][lane] = uint8_t(place(lane, i).row * rowStride + place(lane, i).column * columnStride);
  return table;
}

enum Element { ELEMENT_BF16, ELEMENT_F16, ELEMENT_TF32 };

template <Element E> float elementOf(uint32_t word, int half) {
  const uint16_t bits = uint16_t(word >> 16 * half);
  if constexpr (E == ELEMENT_BF16)
    return fromBf16(bits);
  else if constexpr (E == ELEMENT_F16)
    return (float)F16{bits}.value();
  else
    return std::bit_cast<float>(word & ~0x1fffu); // the hardware does not look at the rest
}

// r: d 4, a, b, c 4. Sums in f32, in the order of the depth; products are exact.
template <Element E, int K> void multiply(Warp &warp, const Instruction &in, Mask) {
  constexpr bool TF32 = E == ELEMENT_TF32;
  constexpr int PER = TF32 ? 1 : 2;                      // elements of a register
  constexpr int NA = 16 * K / LANES, NB = 8 * K / LANES; // of a lane
  // Rows of a and c are the vector's lanes below, so both lie by columns.
  static constexpr Places<NA> A = tableOf<NA>(TF32 ? placeOfA32 : placeOfA16, 1, 16);
  static constexpr Places<NB> B = tableOf<NB>(TF32 ? placeOfB32 : placeOfB16, 8, 1);
  static constexpr Places<4> C = tableOf<4>(placeOfC, 1, 16);
  float a[16 * K], b[K * 8], c[8 * 16];
  const Ref *ref = in.r.data() + 4;
  for (int i = 0; i < NA; ++i) {
    const uint32_t *const words = warp.at<uint32_t>(ref[i / PER]);
    for (int lane = 0; lane < LANES; ++lane)
      a[A[i][lane]] = elementOf<E>(words[lane], i % PER);
  }
  ref += NA / PER;
  for (int i = 0; i < NB; ++i) {
    const uint32_t *const words = warp.at<uint32_t>(ref[i / PER]);
    for (int lane = 0; lane < LANES; ++lane)
      b[B[i][lane]] = elementOf<E>(words[lane], i % PER);
  }
  ref += NB / PER;
  for (int i = 0; i < 4; ++i) {
    const float *const words = warp.at<float>(ref[i]);
    for (int lane = 0; lane < LANES; ++lane)
      c[C[i][lane]] = words[lane];
  }
  for (int column = 0; column < 8; ++column) {
    float sums[16];
    std::memcpy(sums, c + 16 * column, sizeof sums);
    for (int k = 0; k < K; ++k)
      for (int row = 0; row < 16; ++row)
        sums[row] = __builtin_fmaf(a[16 * k + row], b[8 * k + column], sums[row]);
    std::memcpy(c + 16 * column, sums, sizeof sums);
  }
  for (int i = 0; i < 4; ++i) {
    float *const words = warp.at<float>(in.r[i]);
    for (int lane = 0; lane < LANES; ++lane)
      words[lane] = c[C[i][lane]];
  }
}

void multiplies(Decoder &to, Modifiers words) {
  std::string shape, element;
  if (!words.take("sync") || !words.take("aligned") || !words.takeAny({"m16n8k16", "m16n8k8", "m16n8k4"}, &shape) ||
      !words.take("row") || !words.take("col") || !words.take("f32") ||
      !words.takeAny({"bf16", "f16", "tf32"}, &element) || !words.take(element) || !words.take("f32"))
    words.unknown();
  words.done();
  Handler run = nullptr;
  if (element == "bf16")
    run = shape == "m16n8k16" ? multiply<ELEMENT_BF16, 16> : shape == "m16n8k8" ? multiply<ELEMENT_BF16, 8> : nullptr;
  else if (element == "f16")
    run = shape == "m16n8k16" ? multiply<ELEMENT_F16, 16> : shape == "m16n8k8" ? multiply<ELEMENT_F16, 8> : nullptr;
  else
    run = shape == "m16n8k8" ? multiply<ELEMENT_TF32, 8> : shape == "m16n8k4" ? multiply<ELEMENT_TF32, 4> : nullptr;
  if (!run)
    words.unknown();
  const int depth = shape == "m16n8k16" ? 16 : shape == "m16n8k8" ? 8 : 4, per = element == "tf32" ? 1 : 2;
  const size_t counts[4] = {4, size_t(16 * depth / LANES / per), size_t(8 * depth / LANES / per), 4};
  to.expectOperands(4);
  std::vector<Ref> defined, used;
  for (int k = 0; k < 4; ++k) {
    const ptx::Operand &list = to.operand(k);
    const std::vector<ptx::Operand> items = list.kind == ptx::Operand::VECTOR ? list.items : std::vector{list};
    if (items.size() != counts[k])
      to.error("operand " + std::to_string(k) + " of mma has " + std::to_string(items.size()) +
               " registers, expected " + std::to_string(counts[k]));
    for (const ptx::Operand &item : items)
      (k == 0 ? defined : used).push_back(k == 0 ? to.define(item, 4) : to.use(item, 4));
  }
  to.emit(run, defined, used).kind = Kind::COLLECTIVE;
}

} // namespace

void addMatrix(Table &table) {
  table["ldmatrix"] = [](Decoder &to, Modifiers words) { matrixMemory(to, words, true); };
  table["stmatrix"] = [](Decoder &to, Modifiers words) { matrixMemory(to, words, false); };
  table["mma"] = multiplies;
}

} // namespace simt
