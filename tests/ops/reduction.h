// What the reductions share: the reference and the choices of dimensions.
#pragma once

#include "tests/ops/elementwise.h"

namespace burin::test {

// `start` combined with every element over the attribute `dims`.
Values reduced(const Call &call, double start, double (*combine)(double, double));

std::vector<OpCase> reductionCases(Tensor (*op)(Tensor, const Shape &, bool));

} // namespace burin::test
