// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and SIGTERM: the first asks the training to stop after the step, the
// second ends the process at once.
#ifndef HPCC_RUNTIME_TRAIN_INTERRUPT_H
#define HPCC_RUNTIME_TRAIN_INTERRUPT_H

#include "runtime/base/Status.h"

namespace hpcc::runtime {

/// Installs the handlers while it lives (one at a time) and puts the old ones
/// back. SIGPIPE is ignored meanwhile, so that a closed reader of the progress
/// does not end the training.
class InterruptGuard {
public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard &) = delete;
  InterruptGuard &operator=(const InterruptGuard &) = delete;
};

/// Whether a signal has arrived since the guard was made.
bool wasInterrupted();

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_INTERRUPT_H
