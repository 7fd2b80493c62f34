// SPDX-License-Identifier: Apache-2.0
// The packed arguments of one program function on one worker: scalars,
// descriptors, results. Made once; a call only changes numbers in place.
#ifndef HPCC_RUNTIME_TRAIN_CALL_H
#define HPCC_RUNTIME_TRAIN_CALL_H

#include "runtime/train/Program.h"
#include "runtime/train/Workers.h"

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace hpcc::runtime {

/// What a worker sees of one step, the same for all.
struct StepArguments {
  int64_t examples = 0; ///< n, over all workers.
  int64_t step = 0;
  float rate = 0;
  /// Host rows of the global batch, by the order of the Input and Target
  /// arguments. Null: not given.
  std::span<const void *const> inputs;
  std::span<const void *const> targets;
};

class Call {
public:
  /// Memory behind a storage name on this worker; the arena for "".
  using Resolver = std::function<void *(const std::string &storage)>;

  Call(const Program &program, const ProgramFunction &function,
       Workers &workers, int64_t rank)
      : program(program), function(function), workers(workers), rank(rank) {}
  ~Call();
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  /// Makes the descriptors and takes memory for results. After `attach`.
  Status prepare(const Resolver &resolve);
  /// Runs the function with this worker's part of the step. On its thread.
  Status run(const StepArguments &step);

  /// Copies result argument `index` to the host: `elements` of its start.
  Status readResult(size_t index, std::span<std::byte> into) const;
  /// Elements of result `index` after a step of n examples.
  int64_t resultElements(size_t index, int64_t n) const;

private:
  struct Bound {
    /// allocated, aligned, offset, sizes, strides: the memref descriptor.
    std::vector<int64_t> descriptor;
    void *pointer = nullptr; ///< Points to the descriptor, or is the context.
    int64_t scalar = 0;
    float rate = 0;
    void *owned = nullptr; ///< From Workers::allocate.
    void *base = nullptr;
    int64_t rowBytes = 0;

    void setBase(void *memory);
  };

  /// The extents of an argument in a step of n examples, localRows of them
  /// this worker's.
  std::vector<int64_t> extents(const ProgramArgument &argument,
                               int64_t localRows, int64_t n) const;
  int64_t maximumElements(const ProgramArgument &argument) const;
  Status take(Bound &bound, size_t bytes, Workers::Purpose purpose);
  Status bindRows(Bound &bound, const ProgramArgument &argument,
                  const void *rows, const StepArguments &step);

  const Program &program;
  const ProgramFunction &function;
  Workers &workers;
  const int64_t rank;
  std::vector<Bound> bound;
  std::vector<void *> packed;
  std::vector<int32_t> positions;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_CALL_H
