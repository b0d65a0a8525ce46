// Tensors of doubles for the tests' own arithmetic: plain, slow and independent of the compiler's shape code. Integers
// are exact in doubles, so both element types live in one struct.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace burin::test {

struct Values {
  std::vector<int64_t> shape;
  std::vector<double> data; // row by row

  Values() = default;
  // All elements `value`.
  explicit Values(std::vector<int64_t> shape, double value = 0);
  Values(std::vector<int64_t> shape, std::vector<double> data);
  // A 0-d tensor.
  static Values scalar(double value) { return Values({}, std::vector<double>{value}); }

  int64_t size() const { return static_cast<int64_t>(data.size()); }
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  // The last dimension, and the number of rows of that length.
  int64_t width() const { return shape.back(); }
  int64_t rows() const { return width() == 0 ? 0 : size() / width(); }
  double &operator[](int64_t i) { return data[static_cast<size_t>(i)]; }
  double operator[](int64_t i) const { return data[static_cast<size_t>(i)]; }
};

// "2x3x4"; "scalar" for rank 0.
std::string describe(const std::vector<int64_t> &shape);
// (1, 2, 3) for the element at `flat` of a row-major tensor.
std::vector<int64_t> unravel(const std::vector<int64_t> &shape, int64_t flat);
int64_t elements(const std::vector<int64_t> &shape);

// The NumPy rule: shapes are aligned at the right, a dimension of 1 (or none) repeats. Throws std::invalid_argument
// where they disagree.
std::vector<int64_t> broadcastShapes(const std::vector<const Values *> &inputs);
// result[i...] = f(the inputs' elements there); f gets one double for each input.
Values elementwise(const std::vector<const Values *> &inputs, const std::function<double(const double *)> &f);
Values elementwise(const Values &x, const std::function<double(double)> &f);
Values elementwise(const Values &x, const Values &y, const std::function<double(double, double)> &f);

Values transposed(const Values &x, const std::vector<int64_t> &permutation);

// c[..., m, n] = sum over k of a[..., m, k] b[..., k, n]; `transposeX` says that x's last two dimensions are stored the
// other way round. A rank-2 b is shared by all leading dimensions of a.
Values matrixProduct(const Values &a, const Values &b, bool transposeA, bool transposeB);

// Reproducible draws: SplitMix64. Not the standard distributions, whose results differ from library to library.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t bits();
  double uniform(double lower = 0, double upper = 1);
  int64_t integer(int64_t lower, int64_t upper); // in [lower, upper)
  double normal();

private:
  uint64_t state;
};

// Draws that a float can hold exactly, so that the compiled code and the evaluator see the same numbers.
Values randomReals(Random &random, std::vector<int64_t> shape, double lower, double upper);
Values randomIntegers(Random &random, std::vector<int64_t> shape, int64_t lower, int64_t upper);

} // namespace burin::test
