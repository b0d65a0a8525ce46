// Sines of points come from the mathematical library, so their last bit may differ between machines; nothing depends on
// it but the fingerprint, which is therefore taken of rounded numbers.
#include "data/points.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <numeric>

#include "error.h"
#include "hash.h"
#include "train/random.h"

namespace burin::runtime {
namespace {

bool isBlank(std::string_view text) { return text.find_first_not_of(" \t\r") == std::string_view::npos; }

// A number with blanks around it.
bool parse(std::string_view text, double &number) {
  size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos)
    return false;
  text = text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  return problem == std::errc{} && end == text.data() + text.size() && std::isfinite(number);
}

} // namespace

std::vector<Point> readPoints(const std::string &path) {
  std::ifstream file(path);
  if (!file)
    fail("cannot open data file {}", path);
  std::vector<Point> points;
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    if (isBlank(line))
      continue;
    size_t comma = line.find(',');
    Point point;
    if (comma != std::string::npos && parse(std::string_view(line).substr(0, comma), point.x) &&
        parse(std::string_view(line).substr(comma + 1), point.y)) {
      points.push_back(point);
      continue;
    }
    if (number == 1 && comma != std::string::npos && line.find_first_of("0123456789") == std::string::npos)
      continue; // names of the columns
    fail("data file {}:{}: expected two finite numbers, x,y, found '{}'", path, number, line.substr(0, 80));
  }
  if (file.bad())
    fail("cannot read data file {}", path);
  return points;
}

std::vector<Point> wavePoints(uint64_t seed) {
  constexpr int64_t count = 2048;
  const Random random(seed, "wave");
  std::vector<Point> points;
  for (int64_t i = 0; i < count; ++i) {
    double x = 2 * std::numbers::pi * (2 * static_cast<double>(i) / (count - 1) - 1);
    points.push_back({x, std::sin(x) + 0.3 * std::cos(3 * x) + 0.05 * random.normal(static_cast<uint64_t>(i))});
  }
  return points;
}

uint64_t fingerprintOf(const std::vector<Point> &points) {
  uint64_t hash = fnv1a("");
  for (const Point &point : points)
    hash = fnv1a(fmt::format("{:.6e},{:.6e};", point.x, point.y), hash);
  return hash;
}

PointParts splitPoints(const std::vector<Point> &points, double validFraction, bool random, uint64_t seed) {
  size_t valid = static_cast<size_t>(static_cast<double>(points.size()) * validFraction);
  if (points.size() - valid < 1)
    fail("the data has {} points, of which none is left to train on", points.size());
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (random) {
    const Random draws(seed, "split");
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[draws.below(i, i)]);
  }
  PointParts parts;
  for (size_t i = 0; i < order.size(); ++i)
    (i < order.size() - valid ? parts.train : parts.valid).push_back(points[order[i]]);
  return parts;
}

} // namespace burin::runtime
