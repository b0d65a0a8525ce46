// Cases that every element-wise op is tried in: odd widths, ranks, and each way of broadcasting.
#pragma once

#include "tests/support/op_test.h"

namespace burin::test {

// "3x17", "scalar"
std::string shapeName(const Shape &shape);

// How an operand is drawn.
struct Draw {
  double lower = -2, upper = 2;
  Dtype dtype = Dtype::f32;
};

OpOperand drawn(const Shape &shape, const Draw &draw);

std::vector<OpCase> unaryCases(const std::function<Tensor(Tensor)> &op, const Draw &x = {}, bool differentiable = true);
std::vector<OpCase> binaryCases(const std::function<Tensor(Tensor, Tensor)> &op, const Draw &x = {}, const Draw &y = {},
                                bool differentiable = true);

// Both lists, one after the other.
std::vector<OpCase> operator+(std::vector<OpCase> a, std::vector<OpCase> b);

// The same cases under names that tell them apart.
std::vector<OpCase> named(const std::string &prefix, std::vector<OpCase> cases);

} // namespace burin::test
