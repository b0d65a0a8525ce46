// Pairs (x, y) of numbers, for regressions: from a file with a line `x,y` each, or made up.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace burin::runtime {

struct Point {
  double x = 0, y = 0;
};

// Blank lines and a first line that names the columns are passed over; anything else that is not two finite numbers is
// an error with its line.
std::vector<Point> readPoints(const std::string &path);

// The curve that a regression learns where no file is given: sin x + 0.3 cos 3x with noise N(0, 0.05^2), at 2048 places
// spread evenly over [-2 pi, 2 pi]. The same for a seed on every machine.
std::vector<Point> wavePoints(uint64_t seed);

// A fingerprint of all points.
uint64_t fingerprintOf(const std::vector<Point> &points);

struct PointParts {
  std::vector<Point> train, valid;
};

// `validFraction` of the points, rounded down, is for validation: the last ones, or with `random` any, by the seed. At
// least one point must be left to train on.
PointParts splitPoints(const std::vector<Point> &points, double validFraction, bool random, uint64_t seed);

} // namespace burin::runtime
