// SPDX-License-Identifier: Apache-2.0
// state.json of a checkpoint: text that carries its own checksum.
#ifndef HPCC_RUNTIME_TRAIN_TRAININGSTATE_H
#define HPCC_RUNTIME_TRAIN_TRAININGSTATE_H

#include "runtime/train/Checkpoint.h"
#include "runtime/train/Safetensors.h"

namespace hpcc::runtime {

struct StateFile {
  TrainingState state;
  FileChecksum parameters;
  FileChecksum optimizer;
};

std::string formatState(const StateFile &file);
/// Errors say what is wrong, without the path.
Result<StateFile> parseState(std::string_view text);

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_TRAININGSTATE_H
