#include "examples/bert_finetune/stop_signal.h"

#include <csignal>

namespace bert {
namespace {

volatile std::sig_atomic_t requested = 0;  // the signal; all that a signal handler may write

void OnSignal(int signal) { requested = signal; }

}  // namespace

void StopSignal::Install() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

bool StopSignal::Requested() { return requested != 0; }

int StopSignal::ExitStatus() { return 128 + (requested != 0 ? requested : SIGTERM); }

}  // namespace bert
