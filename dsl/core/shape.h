// Shape: the dimensions of a tensor, outermost first; also used for any short list of integers (a permutation, some
// dims).
//
//   Shape x = {16, 128, 256};   x.rank() == 3   x.back() == 256   x.size() == 524288
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "error.h"

namespace burin {

class Shape {
public:
  static constexpr int max_rank = 6;

  constexpr Shape() = default; // rank 0: a scalar
  // A list that is too long is cut to one dimension too many, and whoever uses the shape reports it: g++ gives a braced
  // list among the arguments of a call no line of its own.
  constexpr Shape(std::initializer_list<int64_t> list) {
    for (int64_t dim : list)
      if (count <= max_rank)
        dims[count++] = dim;
  }

  constexpr Shape &append(int64_t dim) {
    check(count < max_rank, "a tensor has at most 6 dimensions");
    dims[count++] = dim;
    return *this;
  }

  constexpr int rank() const { return count; }
  // Elements, 1 for a scalar.
  constexpr int64_t size() const {
    int64_t product = 1;
    for (int64_t dim : *this)
      product *= dim;
    return product;
  }

  constexpr int64_t operator[](int index) const {
    check(0 <= index && index < count, "a shape has no such dimension", "index", index, "rank", count);
    return dims[index];
  }
  constexpr int64_t &operator[](int index) {
    check(0 <= index && index < count, "a shape has no such dimension", "index", index, "rank", count);
    return dims[index];
  }
  // Counted from the end: back() is the last dimension, back(1) the one before it.
  constexpr int64_t back(int fromEnd = 0) const {
    check(fromEnd < count, "the tensor has too few dimensions", "rank", count, "rank needed", fromEnd + 1);
    return dims[count - 1 - fromEnd];
  }

  constexpr const int64_t *begin() const { return dims; }
  constexpr const int64_t *end() const { return dims + count; }

  constexpr bool contains(int64_t value) const {
    for (int64_t dim : *this)
      if (dim == value)
        return true;
    return false;
  }

  friend constexpr bool operator==(const Shape &a, const Shape &b) {
    if (a.count != b.count)
      return false;
    for (int i = 0; i < a.count; ++i)
      if (a.dims[i] != b.dims[i])
        return false;
    return true;
  }

private:
  int64_t dims[max_rank + 1] = {};
  int count = 0;
};

// "[16, 128, 256]"; a scalar is "[]"
inline std::string describe(const Shape &shape) {
  std::string text = "[";
  for (int64_t dim : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  return text + "]";
}

// NumPy's rule: aligned at the last dimension, a dimension of 1 or a missing one is repeated.
constexpr Shape broadcast(const Shape &a, const Shape &b) {
  const Shape &longer = a.rank() >= b.rank() ? a : b, &shorter = a.rank() >= b.rank() ? b : a;
  Shape result = longer;
  const int offset = longer.rank() - shorter.rank();
  for (int i = 0; i < shorter.rank(); ++i) {
    int64_t &dim = result[offset + i];
    check(dim == shorter[i] || dim == 1 || shorter[i] == 1,
          "shapes broadcast only where dimensions, aligned at the last, are equal or 1", "a", a, "b", b);
    if (dim == 1)
      dim = shorter[i];
  }
  return result;
}

// The rule of all reductions: the dimensions `dims` are dropped, or kept as 1.
constexpr Shape reducedShape(const Shape &x, const Shape &dims, bool keepDims) {
  check(dims.rank() > 0, "a reduction needs dimensions to reduce", "x", x);
  for (int i = 0; i < dims.rank(); ++i) {
    check(0 <= dims[i] && dims[i] < x.rank(), "a reduction names a dimension that its input lacks", "x", x, "dims",
          dims);
    for (int j = 0; j < i; ++j)
      check(dims[j] != dims[i], "a reduction names a dimension twice", "x", x, "dims", dims);
  }
  Shape result;
  for (int i = 0; i < x.rank(); ++i) {
    if (!dims.contains(i))
      result.append(x[i]);
    else if (keepDims)
      result.append(1);
  }
  return result;
}

} // namespace burin
