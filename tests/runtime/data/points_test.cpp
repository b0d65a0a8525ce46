// Points from files and made up ones, and their parts.
#include "data/points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "support/expect_error.h"
#include "support/program.h"

namespace burin::runtime {
namespace {

TEST(PointsTest, LinesAreReadWhateverTheirBlanks) {
  test::Folder folder;
  std::vector<Point> points = readPoints(folder.write("points", "x,y\n1,3\n\n 2.5 , -5e1\r\n-3,7"));
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[1].x, 2.5);
  EXPECT_EQ(points[1].y, -50);
  EXPECT_EQ(points[2].x, -3);
}

TEST(PointsTest, WhatIsNoPointIsNamedWithItsLine) {
  test::Folder folder;
  for (const char *line : {"1;2", "1,2,3", "1,", "one,two", "1,nan", "1,inf", "1"}) {
    std::string path = folder.write("points", std::string("x,y\n1,3\n") + line);
    EXPECT_ERROR(readPoints(path),
                 "data file " + path + ":3: expected two finite numbers, x,y, found '" + std::string(line) + "'");
  }
  EXPECT_ERROR(readPoints(folder.file("none")), "cannot open data file " + folder.file("none"));
}

// 2048 points from end to end, around the curve by the noise's spread.
TEST(PointsTest, TheWaveIsACurveWithNoise) {
  std::vector<Point> points = wavePoints(1), again = wavePoints(1), other = wavePoints(2);
  ASSERT_EQ(points.size(), 2048u);
  EXPECT_EQ(fingerprintOf(points), fingerprintOf(again));
  EXPECT_NE(fingerprintOf(points), fingerprintOf(other));
  EXPECT_DOUBLE_EQ(points.front().x, -2 * std::numbers::pi);
  EXPECT_DOUBLE_EQ(points.back().x, 2 * std::numbers::pi);
  double squares = 0;
  for (const Point &point : points)
    squares += std::pow(point.y - std::sin(point.x) - 0.3 * std::cos(3 * point.x), 2);
  EXPECT_NEAR(std::sqrt(squares / 2048), 0.05, 0.004);
}

// Every point is in one part; at the end the parts are in order, at random they are mixed.
TEST(PointsTest, PartsTakeEveryPointOnce) {
  std::vector<Point> points = wavePoints(1);
  for (bool random : {false, true}) {
    PointParts parts = splitPoints(points, 0.2, random, 1);
    EXPECT_EQ(parts.train.size(), 1639u);
    EXPECT_EQ(parts.valid.size(), 409u);
    std::vector<double> all;
    for (const std::vector<Point> *part : {&parts.train, &parts.valid})
      for (const Point &point : *part)
        all.push_back(point.x);
    EXPECT_EQ(std::is_sorted(all.begin(), all.end()), !random);
    std::sort(all.begin(), all.end());
    for (size_t i = 0; i < all.size(); ++i)
      ASSERT_EQ(all[i], points[i].x);
  }
  EXPECT_TRUE(splitPoints(points, 0, false, 1).valid.empty());
  EXPECT_ERROR(splitPoints({}, 0.2, false, 1), "the data has 0 points, of which none is left to train on");
}

} // namespace
} // namespace burin::runtime
