// Arithmetic of views.
#include "passes/ir/strided.h"

namespace burin {

Strided rowMajor(llvm::ArrayRef<int64_t> sizes) {
  Strided result{llvm::SmallVector<int64_t>(sizes), llvm::SmallVector<int64_t>(sizes.size()), 0};
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0; stride *= sizes[i])
    result.strides[i] = stride;
  return result;
}

llvm::FailureOr<Strided> reshaped(const Strided &from, llvm::ArrayRef<int64_t> sizes) {
  // The longest runs of dimensions that act as one, innermost first; a dimension of 1 belongs anywhere.
  struct Run {
    int64_t size, stride;
  };
  llvm::SmallVector<Run> runs;
  for (size_t i = from.sizes.size(); i-- > 0;) {
    if (from.sizes[i] == 1)
      continue;
    if (!runs.empty() && from.strides[i] == runs.back().stride * runs.back().size)
      runs.back().size *= from.sizes[i];
    else
      runs.push_back({from.sizes[i], from.strides[i]});
  }
  // Each new dimension must lie inside one run.
  Strided result{llvm::SmallVector<int64_t>(sizes), llvm::SmallVector<int64_t>(sizes.size()), from.offset};
  size_t run = 0;
  int64_t left = runs.empty() ? 1 : runs[0].size, stride = runs.empty() ? 1 : runs[0].stride;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && left == 1) {
      if (++run >= runs.size())
        return llvm::failure();
      left = runs[run].size;
      stride = runs[run].stride;
    }
    if (left % sizes[i] != 0)
      return llvm::failure();
    result.strides[i] = stride;
    stride *= sizes[i];
    left /= sizes[i];
  }
  return result;
}

Strided permuted(const Strided &from, llvm::ArrayRef<int64_t> permutation) {
  Strided result;
  result.offset = from.offset;
  for (int64_t source : permutation) {
    result.sizes.push_back(from.sizes[source]);
    result.strides.push_back(from.strides[source]);
  }
  return result;
}

llvm::FailureOr<Pieces> piecesOf(const Strided &view, llvm::ArrayRef<int64_t> whole) {
  const size_t rank = view.sizes.size();
  if (rank < 2 || whole.size() < 2 || view.offset != 0)
    return llvm::failure();
  const Strided where = rowMajor(whole);
  const size_t batches = whole.size() - 2;
  const int64_t columns = whole.back(), size = view.sizes.back();
  auto is = [&](size_t dim, int64_t extent, int64_t stride) {
    return view.sizes[dim] == extent && (extent == 1 || view.strides[dim] == stride);
  };
  if (size == 0 || columns % size != 0 || !is(rank - 1, size, 1) || !is(rank - 2, whole[batches], columns))
    return llvm::failure();
  Pieces pieces{size, {}};
  bool counted = columns == size;
  size_t batch = 0;
  auto skipOnes = [&] {
    while (batch < batches && whole[batch] == 1)
      ++batch;
  };
  for (size_t dim = 0; dim + 2 < rank; ++dim) {
    skipOnes();
    if (view.sizes[dim] == 1) {
      pieces.leading.push_back(Pieces::one);
    } else if (!counted && is(dim, columns / size, size)) {
      pieces.leading.push_back(Pieces::number);
      counted = true;
    } else if (batch < batches && is(dim, whole[batch], where.strides[batch])) {
      pieces.leading.push_back(int64_t(batch++));
    } else {
      return llvm::failure();
    }
  }
  skipOnes();
  if (!counted || batch != batches)
    return llvm::failure();
  return pieces;
}

} // namespace burin
