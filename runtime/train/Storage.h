// SPDX-License-Identifier: Apache-2.0
// How a logical storage lies on K workers: sizes, and moving values between
// logical tensors and each worker's part.
#ifndef HPCC_RUNTIME_TRAIN_STORAGE_H
#define HPCC_RUNTIME_TRAIN_STORAGE_H

#include "runtime/train/Parameters.h"

namespace hpcc::runtime {

/// The part of the logical flat storage that one worker holds, in elements.
struct StorageRange {
  int64_t offset = 0;
  int64_t size = 0;
};
StorageRange storageRange(const ProgramStorage &storage, int64_t workers,
                          int64_t rank);
/// What kStorageRows stands for: rows of the shard, or floats of the slice.
int64_t storageRows(const ProgramStorage &storage, int64_t workers,
                    int64_t rank);

/// The tensors of a slot, by parameter index.
std::vector<std::vector<float>> &slotOf(LogicalState &state, StorageSlot slot);
const std::vector<std::vector<float>> &slotOf(const LogicalState &state,
                                              StorageSlot slot);

/// The whole flat storage, padding zero, from logical tensors.
std::vector<float> packStorage(const Program &program,
                               const ProgramStorage &storage,
                               const std::vector<std::vector<float>> &tensors);
/// The reverse: every segment's tensor is overwritten.
void unpackStorage(const Program &program, const ProgramStorage &storage,
                   std::span<const float> flat,
                   std::vector<std::vector<float>> &tensors);

/// Whether the program makes sense to the trainer: every argument's storage
/// exists, every parameter has exactly one value, segments fit and do not
/// overlap. A failure is an internal error: the compiler wrote it.
Status checkProgram(const Program &program);

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_STORAGE_H
