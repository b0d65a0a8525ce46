// A handler may only set a flag; the loop asks for it between steps.
#include "train/interrupt.h"

namespace burin::runtime {
namespace {

constexpr int noted[] = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t received = 0;

void note(int signal) { received = signal; }

} // namespace

Interrupt::Interrupt() {
  received = 0;
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART | SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  int i = 0;
  for (int signal : noted) {
    sigaction(signal, &action, &previous_[i]);
    // Under nohup a closed terminal is to be ignored. SIGINT is taken even so: shells silence it for every job that a
    // script starts in the background, and such a run must be stoppable, too.
    if (signal == SIGHUP && previous_[i].sa_handler == SIG_IGN)
      sigaction(signal, &previous_[i], nullptr);
    ++i;
  }
  action.sa_handler = SIG_IGN;
  action.sa_flags = 0;
  sigaction(SIGPIPE, &action, &previous_[i]);
}

Interrupt::~Interrupt() {
  int i = 0;
  for (int signal : noted)
    sigaction(signal, &previous_[i++], nullptr);
  sigaction(SIGPIPE, &previous_[i], nullptr);
}

int Interrupt::signal() const { return received; }

} // namespace burin::runtime
