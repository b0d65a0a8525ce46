// Cost: how much arithmetic an op does, from shapes alone. Reports keep the two kinds apart: a share of a machine's
// peak counts products only.
#pragma once

#include <cstdint>

namespace burin {

struct Cost {
  int64_t products = 0; // FLOPs of matrix products: 2MNK
  int64_t other = 0;    // everything else: element-wise work and reductions, a function such as exp counted as one
};

} // namespace burin
