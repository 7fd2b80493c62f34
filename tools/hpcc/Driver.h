// SPDX-License-Identifier: Apache-2.0
// What the program does with a command line.
#pragma once

#include "tools/hpcc/CommandLine.h"

namespace hpcc {

/// Compiles, and prints or runs; reports errors. Returns the exit code.
int runDriver(const CommandLine &line);

} // namespace hpcc
