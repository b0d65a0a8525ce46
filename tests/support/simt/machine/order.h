// The order of basic blocks in which a warp's diverged threads meet again as early as they can.
#pragma once
#include <vector>

namespace simt {

// Weak topological order (Bourdoncle 1993): a block comes after what leads to it, and loops stand together, also nested
// ones. Blocks that cannot be reached are left out. Block 0 is the entry.
std::vector<int> weakTopologicalOrder(const std::vector<std::vector<int>> &successors);

} // namespace simt
