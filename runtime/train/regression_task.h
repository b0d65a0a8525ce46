// A regression's task: to give y for x. The model maps one number to one.
#pragma once
#include <span>
#include <vector>

#include "data/points.h"
#include "train/task.h"

namespace burin::runtime {

// x, y, weights f32[B, 1] -> loss f32: the sum of weight * (prediction - y)^2.
struct PointsEntry {
  PointsEntry(const Device &device, const char *name);
  const burin_entry &entry;
  std::span<float> x, y, weights;
  const float &loss;
};

// x f32[1, 1] -> prediction f32[1, 1].
class Predictor {
public:
  explicit Predictor(Device &device);
  double operator()(double x);

private:
  Device &device_;
  const burin_entry &entry_;
  float &x_;
  const float &prediction_;
};

struct PointsEvaluation {
  double loss = 0; // mean squared error
  int64_t points = 0;
};

PointsEvaluation evaluate(Device &device, std::span<const Point> points);

// The points that the options name, and their parts.
struct RegressionData {
  explicit RegressionData(const TrainOptions &options);
  std::string name; // of the file, or what was made up
  std::vector<Point> points;
  PointParts parts;
};

std::unique_ptr<Task> makeRegressionTask(Device &device, const TrainOptions &options);

} // namespace burin::runtime
