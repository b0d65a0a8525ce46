// Points are drawn with replacement, each a function of the seed and its number alone.
#include "train/regression_task.h"

#include <algorithm>

#include "train/random.h"

namespace burin::runtime {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

std::span<float> column(const Device &device, const burin_entry &entry, const char *name, int64_t rows) {
  std::span<float> values = device.values<float>(device.input(entry, name));
  if (static_cast<int64_t>(values.size()) != rows)
    fail("'{}' of entry '{}' has {} elements where {} are expected: one number a row", name, entry.name, values.size(),
         rows);
  return values;
}

class RegressionTask : public Task {
public:
  RegressionTask(Device &device, const TrainOptions &options)
      : device_(device), data_(options), step_(device, "step"), random_(static_cast<uint64_t>(options.seed), "points") {
  }

  std::string unit() const override { return "points"; }
  void next() override {
    const std::vector<Point> &points = data_.parts.train;
    for (size_t row = 0; row < step_.x.size(); ++row) {
      const Point &point = points[random_.below(points.size(), drawn_++)];
      step_.x[row] = static_cast<float>(point.x);
      step_.y[row] = static_cast<float>(point.y);
      step_.weights[row] = 1;
    }
  }
  int64_t perBatch() const override { return static_cast<int64_t>(step_.x.size()); }
  void seek(uint64_t drawn, int64_t) override { drawn_ = drawn; }
  uint64_t drawn() const override { return drawn_; }
  std::string dataText() const override {
    return fmt::format("{}: {} points to train on, {} to validate", data_.name, data_.parts.train.size(),
                       data_.parts.valid.size());
  }
  json fingerprint() const override {
    return {{"bytes", data_.points.size() * sizeof(Point)},
            {"fingerprint", fingerprintOf(data_.points)},
            {"train", data_.parts.train.size()},
            {"trained", fingerprintOf(data_.parts.train)}}; // with --split random their number does not tell which
  }
  json saved() const override { return json::object(); }

  ordered_json validate() override {
    if (data_.parts.valid.empty())
      return ordered_json::object();
    PointsEvaluation valid = evaluate(device_, data_.parts.valid);
    return {{"valid_loss", valid.loss}, {"valid_points", valid.points}};
  }
  void report(const ordered_json &valid) override {
    fmt::print("validation loss  {:.6f}  ({} points)\n", valid.at("valid_loss").get<double>(),
               valid.at("valid_points").get<int64_t>());
  }

private:
  Device &device_;
  RegressionData data_;
  PointsEntry step_;
  Random random_;
  uint64_t drawn_ = 0;
};

} // namespace

PointsEntry::PointsEntry(const Device &device, const char *name)
    : entry(device.entry(name)), x(column(device, entry, "x", entry.batch)), y(column(device, entry, "y", entry.batch)),
      weights(column(device, entry, "weights", entry.batch)),
      loss(device.values<float>(device.output(entry, "loss"))[0]) {}

Predictor::Predictor(Device &device)
    : device_(device), entry_(device.entry("prediction")), x_(column(device, entry_, "x", 1)[0]),
      prediction_(device.values<float>(device.output(entry_, "prediction"))[0]) {}

double Predictor::operator()(double x) {
  x_ = static_cast<float>(x);
  device_.run(entry_);
  device_.download(prediction_);
  return static_cast<double>(prediction_);
}

PointsEvaluation evaluate(Device &device, std::span<const Point> points) {
  PointsEntry entry(device, "loss");
  double sum = 0;
  for (size_t first = 0; first < points.size(); first += entry.x.size()) {
    // What the points do not fill of the last batch is left out.
    for (size_t row = 0; row < entry.x.size(); ++row) {
      bool inside = first + row < points.size();
      entry.x[row] = inside ? static_cast<float>(points[first + row].x) : 0;
      entry.y[row] = inside ? static_cast<float>(points[first + row].y) : 0;
      entry.weights[row] = inside ? 1 : 0;
    }
    device.run(entry.entry);
    device.download(entry.loss);
    sum += static_cast<double>(entry.loss);
  }
  return {.loss = sum / static_cast<double>(points.size()), .points = static_cast<int64_t>(points.size())};
}

RegressionData::RegressionData(const TrainOptions &options)
    : name(options.data.empty() ? "sin x + 0.3 cos 3x + noise" : options.data),
      points(options.data.empty() ? wavePoints(static_cast<uint64_t>(options.seed)) : readPoints(options.data)),
      parts(splitPoints(points, options.validFraction.value_or(0.2), options.split == "random",
                        static_cast<uint64_t>(options.seed))) {}

std::unique_ptr<Task> makeRegressionTask(Device &device, const TrainOptions &options) {
  return std::make_unique<RegressionTask>(device, options);
}

} // namespace burin::runtime
