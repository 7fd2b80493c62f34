// SPDX-License-Identifier: Apache-2.0
// Parameters and optimizer state in logical form: unsharded, one host tensor
// per parameter, in the layout of the IR. Checkpoints, export and the initial
// values use this form, so none of them depends on K or on a scheme.
#ifndef HPCC_RUNTIME_TRAIN_PARAMETERS_H
#define HPCC_RUNTIME_TRAIN_PARAMETERS_H

#include "runtime/base/Status.h"
#include "runtime/train/Program.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hpcc::runtime {

struct LogicalState {
  /// values[i] belongs to Program::parameters[i].
  std::vector<std::vector<float>> values;
  /// The same for momentum; empty where no storage of the program holds one.
  std::vector<std::vector<float>> momentum;
};

int64_t elementsOf(const ProgramParameter &parameter);
/// Index in Program::parameters, or -1.
int64_t findParameter(const Program &program, const std::string &name);
/// Whether some storage holds the slot of the parameter.
bool hasSlot(const Program &program, const std::string &parameter,
             StorageSlot slot);

/// All zeros, with momentum where the program has it.
LogicalState makeZeroState(const Program &program);

/// Between the layout of the IR and that of the ONNX initializer, which differ
/// by a transposition where `parameter.transposed`.
std::vector<float> fromFileLayout(const ProgramParameter &parameter,
                                  std::span<const float> values);
std::vector<float> toFileLayout(const ProgramParameter &parameter,
                                std::span<const float> values);
/// Shape of the initializer in the file.
std::vector<int64_t> fileShape(const ProgramParameter &parameter);

enum class InitialScheme {
  /// Normal with deviation sqrt(2 / fan_in) (He 2015).
  He,
  /// Normal with deviation sqrt(2 / (fan_in + fan_out)) (Glorot 2010).
  Glorot,
};

/// `--reinit`: weights normal, norm scales and running variances 1, everything
/// else 0. fan_in = product of shape[1:], fan_out = shape[0] times the product
/// of shape[2:]. Weight number i is deviation * z(i), by Box-Muller from
/// q = Philox4x32-10(key = seed, counter = (low and high half of floor(i / 2),
/// CRC-32 of the parameter's name, 0xF0000002)): u1 = (q[0] + 1) / 2^32,
/// u2 = q[1] / 2^32, z = sqrt(-2 ln u1) times cos(2 pi u2) for even and
/// sin(2 pi u2) for odd i. So values depend on the seed and the name only.
std::vector<float> initialValues(const ProgramParameter &parameter,
                                 uint64_t seed,
                                 InitialScheme scheme = InitialScheme::He);

} // namespace hpcc::runtime

#endif // HPCC_RUNTIME_TRAIN_PARAMETERS_H
