// Written to standard output; a terminal is told apart from a pipe there.
#include "train/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace burin::runtime {

std::string durationText(double seconds) {
  auto total = static_cast<int64_t>(std::min(std::ceil(seconds), 1e9));
  return total < 3600 ? fmt::format("{}:{:02}", total / 60, total % 60)
                      : fmt::format("{}:{:02}:{:02}", total / 3600, total / 60 % 60, total % 60);
}

Progress::Progress(int64_t steps, double perStep, std::string unit, double flopsPerStep, std::function<double()> peak,
                   int64_t every)
    : steps_(steps), perStep_(perStep), unit_(std::move(unit)), flopsPerStep_(flopsPerStep), peak_(std::move(peak)),
      every_(every), terminal_(isatty(STDOUT_FILENO)) {}

void Progress::show(int64_t step, double loss, double lr, double seconds) {
  smoothSeconds_ = smoothSeconds_ == 0 ? seconds : 0.9 * smoothSeconds_ + 0.1 * seconds;
  bool last = step == steps_;
  if (terminal_ ? !last && Clock::now() - lastShown_ < std::chrono::milliseconds(100) : !last && step % every_ != 0)
    return;
  lastShown_ = Clock::now();

  std::string line = fmt::format("step {}/{}  loss {:.4f}  lr {:.2e}  {:.0f} {}/s", step, steps_, loss, lr,
                                 perStep_ / smoothSeconds_, unit_);
  if (double gflops = flopsPerStep_ / smoothSeconds_ / 1e9; gflops > 0) {
    // Faster than the peak: it was measured while another program had a part of the machine.
    if (gflops > peakGflops_)
      peakGflops_ = std::max(peakGflops_, peak_());
    if (peakGflops_ > 0) // 0: that of this GPU is not known
      line += fmt::format("  {:.0f} % of peak", 100 * gflops / peakGflops_);
  }
  line += fmt::format("  {} left", durationText(static_cast<double>(steps_ - step) * smoothSeconds_));
  if (terminal_)
    fmt::print("\r{}\x1b[K{}", line, last ? "\n" : "");
  else
    fmt::print("{}\n", line);
  shown_ = terminal_ && !last;
  std::fflush(stdout);
}

void Progress::clear() {
  if (shown_)
    fmt::print("\r\x1b[K");
  shown_ = false;
  std::fflush(stdout);
}

} // namespace burin::runtime
