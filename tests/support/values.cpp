// The arithmetic of values.h, loop by loop.
#include "tests/support/values.h"

#include <cmath>
#include <stdexcept>

namespace burin::test {

int64_t elements(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Values::Values(std::vector<int64_t> shape, double value)
    : shape(std::move(shape)), data(static_cast<size_t>(elements(this->shape)), value) {}

Values::Values(std::vector<int64_t> shape, std::vector<double> data) : shape(std::move(shape)), data(std::move(data)) {
  if (elements(this->shape) != size())
    throw std::invalid_argument("a tensor of shape " + describe(this->shape) + " got " + std::to_string(size()) +
                                " elements");
}

std::string describe(const std::vector<int64_t> &shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::vector<int64_t> unravel(const std::vector<int64_t> &shape, int64_t flat) {
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    index[d] = flat % shape[d];
    flat /= shape[d];
  }
  return index;
}

std::vector<int64_t> broadcastShapes(const std::vector<const Values *> &inputs) {
  size_t rank = 0;
  for (const Values *x : inputs)
    rank = std::max(rank, x->shape.size());
  std::vector<int64_t> shape(rank, 1);
  for (const Values *x : inputs) {
    for (size_t d = 0; d < x->shape.size(); ++d) {
      int64_t size = x->shape[x->shape.size() - 1 - d];
      int64_t &joint = shape[rank - 1 - d];
      if (joint == 1)
        joint = size;
      else if (size != 1 && size != joint)
        throw std::invalid_argument("shapes do not broadcast: " + describe(x->shape) + " and " + describe(shape));
    }
  }
  return shape;
}

Values elementwise(const std::vector<const Values *> &inputs, const std::function<double(const double *)> &f) {
  Values result(broadcastShapes(inputs));
  size_t rank = result.shape.size();
  // How far each input moves when a dimension of the result moves by one.
  std::vector<std::vector<int64_t>> strides;
  for (const Values *x : inputs) {
    std::vector<int64_t> stride(rank, 0);
    int64_t step = 1;
    for (size_t d = 0; d < x->shape.size(); ++d) {
      int64_t size = x->shape[x->shape.size() - 1 - d];
      stride[rank - 1 - d] = size == 1 ? 0 : step;
      step *= size;
    }
    strides.push_back(std::move(stride));
  }
  std::vector<double> arguments(inputs.size());
  std::vector<int64_t> index(rank, 0);
  for (int64_t flat = 0; flat < result.size(); ++flat) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      int64_t at = 0;
      for (size_t d = 0; d < rank; ++d)
        at += index[d] * strides[i][d];
      arguments[i] = (*inputs[i])[at];
    }
    result[flat] = f(arguments.data());
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < result.shape[d])
        break;
      index[d] = 0;
    }
  }
  return result;
}

Values elementwise(const Values &x, const std::function<double(double)> &f) {
  Values result(x.shape);
  for (int64_t i = 0; i < x.size(); ++i)
    result[i] = f(x[i]);
  return result;
}

Values elementwise(const Values &x, const Values &y, const std::function<double(double, double)> &f) {
  return elementwise({&x, &y}, [&](const double *in) { return f(in[0], in[1]); });
}

Values transposed(const Values &x, const std::vector<int64_t> &permutation) {
  std::vector<int64_t> shape, strides(x.shape.size(), 1);
  for (size_t d = x.shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * x.shape[d];
  for (int64_t from : permutation)
    shape.push_back(x.shape.at(static_cast<size_t>(from)));
  Values result(shape);
  for (int64_t flat = 0; flat < result.size(); ++flat) {
    std::vector<int64_t> index = unravel(shape, flat);
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d)
      at += index[d] * strides[static_cast<size_t>(permutation[d])];
    result[flat] = x[at];
  }
  return result;
}

Values matrixProduct(const Values &a, const Values &b, bool transposeA, bool transposeB) {
  size_t rank = a.shape.size();
  int64_t m = a.shape[rank - 2], k = a.shape[rank - 1];
  if (transposeA)
    std::swap(m, k);
  int64_t bk = b.shape[b.shape.size() - 2], n = b.shape[b.shape.size() - 1];
  if (transposeB)
    std::swap(bk, n);
  if (bk != k)
    throw std::invalid_argument("a product of " + describe(a.shape) + " and " + describe(b.shape) + " has two depths");
  std::vector<int64_t> shape(a.shape.begin(), a.shape.end() - 2);
  int64_t batches = elements(shape);
  if (b.shape.size() > 2 && elements({b.shape.begin(), b.shape.end() - 2}) != batches)
    throw std::invalid_argument("a product of " + describe(a.shape) + " and " + describe(b.shape) + " has two batches");
  shape.push_back(m);
  shape.push_back(n);
  Values c(shape);
  for (int64_t batch = 0; batch < batches; ++batch) {
    const double *as = a.data.data() + batch * m * k;
    const double *bs = b.data.data() + (b.shape.size() > 2 ? batch * k * n : 0);
    double *cs = c.data.data() + batch * m * n;
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t d = 0; d < k; ++d)
          sum += as[transposeA ? d * m + i : i * k + d] * bs[transposeB ? j * k + d : d * n + j];
        cs[i * n + j] = sum;
      }
    }
  }
  return c;
}

uint64_t Random::bits() {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double Random::uniform(double lower, double upper) {
  return lower + (upper - lower) * static_cast<double>(bits() >> 11) * 0x1p-53;
}

int64_t Random::integer(int64_t lower, int64_t upper) {
  return lower + static_cast<int64_t>(bits() % static_cast<uint64_t>(upper - lower));
}

double Random::normal() {
  double radius = std::sqrt(-2 * std::log(1 - uniform())), angle = uniform(0, 6.283185307179586);
  return radius * std::cos(angle);
}

Values randomReals(Random &random, std::vector<int64_t> shape, double lower, double upper) {
  Values x(std::move(shape));
  for (double &value : x.data)
    value = static_cast<float>(random.uniform(lower, upper));
  return x;
}

Values randomIntegers(Random &random, std::vector<int64_t> shape, int64_t lower, int64_t upper) {
  Values x(std::move(shape));
  for (double &value : x.data)
    value = static_cast<double>(random.integer(lower, upper));
  return x;
}

} // namespace burin::test
