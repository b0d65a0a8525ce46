// Ctrl-C, a terminated job or a closed terminal: the run finishes its step and saves instead of dying.
#pragma once
#include <csignal>

namespace burin::runtime {

// While it lives, SIGINT, SIGTERM and SIGHUP are noted instead of obeyed. A second one of a kind stops the program at
// once, as if nothing had been installed. A reader of our output that went away is no reason to lose a run either.
class Interrupt {
public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt &) = delete;
  Interrupt &operator=(const Interrupt &) = delete;
  int signal() const; // 0 while none arrived

private:
  struct sigaction previous_[4];
};

} // namespace burin::runtime
