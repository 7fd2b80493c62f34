// SPDX-License-Identifier: Apache-2.0
// Passes that only tests use.
#pragma once

namespace hpcc {
void registerTestPasses();
} // namespace hpcc
