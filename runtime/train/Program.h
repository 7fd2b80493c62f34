// SPDX-License-Identifier: Apache-2.0
// What the trainer knows about a compiled program: entry points, the order and
// meaning of their arguments, and how parameters lie in the storage that each
// worker owns. Plain data: the driver fills it from the IR (or a test by hand),
// so that the trainer includes neither the compiler nor a back end.
#ifndef HPCC_RUNTIME_TRAIN_PROGRAM_H
#define HPCC_RUNTIME_TRAIN_PROGRAM_H

#include "runtime/base/DataType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace hpcc::runtime {

/// Entries of `ProgramArgument::dims` that are not static extents.
enum : int64_t {
  /// This worker's examples of the step: examples(n, K, rank).
  kLocalRows = -1,
  /// All n examples of the step, the same on every worker.
  kStepRows = -2,
  /// Follows from the argument's storage: rows of its shard (dim0), or its
  /// slice of the padded bucket (flat). Also the size of the arena.
  kStorageRows = -3,
};

/// `nn.arg`'s kind. Scalars: Rank and Examples are `index`, Step is i64, Rate
/// is f32. Everything else but Context is a memref. Result also covers the loss
/// (memref<f32>), the hit counts, outputs and gradients.
enum class ArgumentKind {
  Context,
  Rank,
  Examples,
  Step,
  Rate,
  Input,
  Target,
  Position,
  Value,
  State,
  Arena,
  Result,
};

struct ProgramArgument {
  ArgumentKind kind = ArgumentKind::Context;
  /// Input: name of the graph's input. Result: "loss" (f32, one element),
  /// "counts" (f32 x 2: top-1 and top-5 hits), or the output's or parameter's
  /// name. Free for the others.
  std::string name;
  DataType type = DataType::f32;
  /// Extents, static or one of the markers above; empty for a rank-0 memref.
  std::vector<int64_t> dims;
  /// Value and State: the storage to bind. Result: empty, or the storage whose
  /// layout the result has (a gradient that is sharded or lies in a bucket).
  std::string storage;
  /// Target of integer type: labels are in [0, classes).
  int64_t classes = 0;
  /// Arena: its bytes on one worker.
  int64_t bytes = 0;
};

/// What `ExecutionEngine::lookupPacked` gives for `_mlir_ciface_<name>`.
/// args[i] points to the value of argument i: for Context to the
/// `hpcc_context *`, for a scalar to it, for a memref to a pointer to its
/// descriptor {allocated, aligned, offset, sizes[rank], strides[rank]}.
using ProgramEntry = void (*)(void **args);

struct ProgramFunction {
  /// Null when the program does not have this function.
  ProgramEntry entry = nullptr;
  std::vector<ProgramArgument> arguments;

  explicit operator bool() const { return entry != nullptr; }
};

/// Value of a parameter, an optimizer's slot, or (only as the layout of a
/// result) a gradient.
enum class StorageSlot { Value, Momentum, Gradient };

enum class StorageSplit {
  /// The whole on every worker, equal everywhere after each step.
  Replicated,
  /// Worker r owns floats [r * padded / K, (r + 1) * padded / K).
  Flat,
  /// Worker r owns rows shard(shape[0], K, r) of the storage's only segment.
  Dim0,
};

/// Where a parameter lies in the logical (unsharded) flat storage.
struct StorageSegment {
  std::string parameter;
  int64_t offset = 0; ///< In elements.
  std::vector<int64_t> shape;
};

struct ProgramStorage {
  std::string name;
  StorageSlot slot = StorageSlot::Value;
  StorageSplit split = StorageSplit::Replicated;
  /// Elements of the logical storage. Gaps and padding between and behind the
  /// segments are zero. Flat: a multiple of K. Dim0: the elements of the
  /// segment, unpadded.
  int64_t padded = 0;
  std::vector<StorageSegment> segments;
};

enum class ParameterRole {
  Weight,
  Bias,
  NormScale,
  NormBias,
  RunningMean,
  RunningVar,
  Other,
};

struct ProgramParameter {
  std::string name;        ///< The IR's symbol.
  std::string initializer; ///< Name in the ONNX file.
  /// Logical, unsharded, as the IR sees it.
  std::vector<int64_t> shape;
  ParameterRole role = ParameterRole::Weight;
  bool trainable = true;
  /// The IR's value is the transpose of the file's 2-D initializer.
  bool transposed = false;
};

struct Program {
  std::string model; ///< Path of the ONNX file.
  int64_t workers = 1;
  int64_t batch = 1;   ///< Global examples of a full step.
  int64_t fcBatch = 0; ///< 0: not given.
  int64_t passes = 1;
  std::string scheme = "data";
  std::string fcUpdate = "every";
  std::string optimizer = "sgd";
  std::string momentumForm = "pytorch";
  uint64_t seed = 0;

  std::vector<ProgramParameter> parameters;
  std::vector<ProgramStorage> storages;

  /// Defines the descriptor table of one context; its only argument is the
  /// context. Called once on each worker's thread before anything else.
  ProgramFunction init;
  ProgramFunction trainStep;
  ProgramFunction evalStep;
  ProgramFunction gradients;
  ProgramFunction forward;
};

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_PROGRAM_H
