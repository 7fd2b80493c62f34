// SPDX-License-Identifier: Apache-2.0
// The handler does only what a signal handler may: it stores a flag and gives
// the signals their default action, which ends the process, back.

#include "runtime/train/Interrupt.h"

#include <csignal>

namespace hpcc::runtime {

namespace {

volatile std::sig_atomic_t interrupted = 0;
struct sigaction oldInterrupt, oldTerminate, oldPipe;

void onSignal(int) {
  interrupted = 1;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

} // namespace

InterruptGuard::InterruptGuard() {
  interrupted = 0;
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  // A shell may have said that the process should ignore Ctrl-C (nohup, &).
  sigaction(SIGINT, nullptr, &oldInterrupt);
  if (oldInterrupt.sa_handler != SIG_IGN)
    sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, &oldTerminate);
  action.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &action, &oldPipe);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &oldInterrupt, nullptr);
  sigaction(SIGTERM, &oldTerminate, nullptr);
  sigaction(SIGPIPE, &oldPipe, nullptr);
}

bool wasInterrupted() { return interrupted != 0; }

} // namespace hpcc::runtime
