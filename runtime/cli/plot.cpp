// `MODEL plot`: the points and the fitted curve as a picture that any browser shows.
#include <algorithm>
#include <cmath>

#include "cli/commands.h"
#include "store/checkpoint.h"
#include "store/file.h"
#include "train/regression_task.h"
#include "train/run.h"

namespace burin::runtime {
namespace {

constexpr double width = 800, height = 480, left = 60, right = 20, top = 30, bottom = 40;

// From numbers to places in the picture, for one axis.
struct Axis {
  double low, high, from, to;
  double operator()(double value) const { return from + (value - low) / (high - low) * (to - from); }
};

Axis axisOf(double low, double high, double from, double to) {
  double room = high > low ? 0.05 * (high - low) : 1;
  return {low - room, high + room, from, to};
}

// About five round numbers between the ends.
std::vector<double> ticksOf(const Axis &axis) {
  double raw = (axis.high - axis.low) / 5, power = std::pow(10, std::floor(std::log10(raw)));
  double step = (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10) * power;
  std::vector<double> ticks;
  for (double tick = std::ceil(axis.low / step) * step; tick <= axis.high; tick += step)
    ticks.push_back(std::abs(tick) < step / 1000 ? 0 : tick);
  return ticks;
}

std::string dots(const std::vector<Point> &points, const Axis &x, const Axis &y, const char *color) {
  std::string text = fmt::format("<g fill=\"{}\" fill-opacity=\"0.5\">\n", color);
  for (const Point &point : points)
    text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2\"/>\n", x(point.x), y(point.y));
  return text + "</g>\n";
}

std::string escaped(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return result;
}

std::string picture(const std::string &title, const RegressionData &data, const std::vector<Point> &curve) {
  Point low = curve.front(), high = curve.front();
  for (const std::vector<Point> *points : {&data.points, &curve})
    for (const Point &point : *points) {
      low = {std::min(low.x, point.x), std::min(low.y, point.y)};
      high = {std::max(high.x, point.x), std::max(high.y, point.y)};
    }
  const Axis x = axisOf(low.x, high.x, left, width - right), y = axisOf(low.y, high.y, height - bottom, top);
  std::string text =
      fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                  "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
                  "<text x=\"{2}\" y=\"20\">{3}</text>\n",
                  width, height, left, escaped(title));
  for (double tick : ticksOf(x))
    text += fmt::format("<path d=\"M{0:.1f} {1}V{2}\" stroke=\"#ddd\"/><text x=\"{0:.1f}\" y=\"{3}\" "
                        "text-anchor=\"middle\">{4:g}</text>\n",
                        x(tick), top, height - bottom, height - bottom + 18, tick);
  for (double tick : ticksOf(y))
    text += fmt::format("<path d=\"M{0} {1:.1f}H{2}\" stroke=\"#ddd\"/><text x=\"{3}\" y=\"{4:.1f}\" "
                        "text-anchor=\"end\">{5:g}</text>\n",
                        left, y(tick), width - right, left - 6, y(tick) + 4, tick);
  text += dots(data.parts.train, x, y, "#4477aa") + dots(data.parts.valid, x, y, "#ee7733");
  text += "<path fill=\"none\" stroke=\"black\" stroke-width=\"2\" d=\"";
  for (size_t i = 0; i < curve.size(); ++i)
    text += fmt::format("{}{:.1f} {:.1f}", i ? "L" : "M", x(curve[i].x), y(curve[i].y));
  return text + "\"/>\n</svg>\n";
}

} // namespace

Action addPlot(CLI::App &app, const Models &models) {
  struct Options {
    std::string data, checkpoint, out;
    DeviceOptions device;
  };
  CLI::App *command = app.add_subcommand("plot", "draw the points and the fitted curve as an SVG picture");
  auto options = std::make_shared<Options>();
  command->add_option("--checkpoint", options->checkpoint, "checkpoint.safetensors of a run")->required();
  command->add_option("--data", options->data, "file of lines x,y [the data of the run]");
  command->add_option("--out", options->out, "file to write [plot.svg beside the checkpoint]");
  addDevice(*command, options->device);
  return [=, &models] {
    constexpr int steps = 400;
    Device device = openDevice(models, options->device);
    TrainOptions run = savedOptions(options->checkpoint);
    if (!options->data.empty())
      run.data = options->data;
    const RegressionData data(run);
    expectModel(options->checkpoint, loadCheckpoint(options->checkpoint, device, /*withMoments=*/false),
                device.model());
    auto [first, last] = std::minmax_element(data.points.begin(), data.points.end(),
                                             [](const Point &a, const Point &b) { return a.x < b.x; });
    Predictor predict(device);
    std::vector<Point> curve;
    for (int i = 0; i <= steps; ++i) {
      double x = first->x + (last->x - first->x) * i / steps, y = predict(x);
      if (!std::isfinite(y))
        fail("the model gives {} for x = {}: its weights are unusable", y, x);
      curve.push_back({x, y});
    }
    std::string title = fmt::format("{}: {} ({} points to train on, {} to validate)", device.model().name, data.name,
                                    data.parts.train.size(), data.parts.valid.size());
    std::string path = options->out;
    if (path.empty())
      path = options->checkpoint.substr(0, options->checkpoint.find_last_of('/') + 1) + "plot.svg";
    const std::string text = picture(title, data, curve);
    AtomicFile file(path);
    file.write(text.data(), text.size());
    file.commit();
    fmt::print("{}\n", path);
    return 0;
  };
}

} // namespace burin::runtime
