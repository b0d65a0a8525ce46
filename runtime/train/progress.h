// What a person sees while a model trains: one line that rewrites itself on a terminal, plain lines elsewhere.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace burin::runtime {

class Progress {
public:
  // `perStep`: how many of `unit` ("tokens") a step takes. `peak` gives GFLOP/s, 0 for unknown; with flopsPerStep 0 it
  // is not asked and no share is shown. `every`: steps between two plain lines.
  Progress(int64_t steps, double perStep, std::string unit, double flopsPerStep, std::function<double()> peak,
           int64_t every);
  ~Progress() { clear(); }

  // `seconds` is the time that this step took.
  void show(int64_t step, double loss, double lr, double seconds);
  // Removes the rewritten line, so that something else can be printed.
  void clear();

private:
  using Clock = std::chrono::steady_clock;

  int64_t steps_;
  double perStep_;
  std::string unit_;
  double flopsPerStep_;
  std::function<double()> peak_;
  double peakGflops_ = 0; // the highest that was measured
  int64_t every_;
  bool terminal_, shown_ = false;
  double smoothSeconds_ = 0; // of a step, recent ones weigh most
  Clock::time_point lastShown_{};
};

// "2:07" or "1:02:07".
std::string durationText(double seconds);

} // namespace burin::runtime
