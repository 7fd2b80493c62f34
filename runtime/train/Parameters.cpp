// SPDX-License-Identifier: Apache-2.0
// Logical tensors: lookup, file layout, initial values.

#include "runtime/train/Parameters.h"

#include "runtime/data/Crc32.h"
#include "runtime/data/Philox.h"

#include <cmath>
#include <numbers>

namespace hpcc::runtime {

int64_t elementsOf(const ProgramParameter &parameter) {
  int64_t count = 1;
  for (int64_t extent : parameter.shape)
    count *= extent;
  return count;
}

int64_t findParameter(const Program &program, const std::string &name) {
  for (size_t i = 0; i < program.parameters.size(); ++i)
    if (program.parameters[i].name == name)
      return static_cast<int64_t>(i);
  return -1;
}

bool hasSlot(const Program &program, const std::string &parameter,
             StorageSlot slot) {
  for (const ProgramStorage &storage : program.storages)
    if (storage.slot == slot)
      for (const StorageSegment &segment : storage.segments)
        if (segment.parameter == parameter)
          return true;
  return false;
}

LogicalState makeZeroState(const Program &program) {
  LogicalState state;
  for (const ProgramParameter &parameter : program.parameters) {
    size_t count = static_cast<size_t>(elementsOf(parameter));
    state.values.emplace_back(count);
    bool momentum = hasSlot(program, parameter.name, StorageSlot::Momentum);
    state.momentum.emplace_back(momentum ? count : 0);
  }
  return state;
}

namespace {

std::vector<float> transpose(std::span<const float> values, int64_t rows,
                             int64_t columns) {
  std::vector<float> result(values.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result[j * rows + i] = values[i * columns + j];
  return result;
}

} // namespace

std::vector<int64_t> fileShape(const ProgramParameter &parameter) {
  std::vector<int64_t> shape = parameter.shape;
  assert((!parameter.transposed || shape.size() == 2) &&
         "only matrices are transposed");
  if (parameter.transposed)
    std::swap(shape[0], shape[1]);
  return shape;
}

std::vector<float> fromFileLayout(const ProgramParameter &parameter,
                                  std::span<const float> values) {
  assert(static_cast<int64_t>(values.size()) == elementsOf(parameter) &&
         "values must fill the parameter");
  if (!parameter.transposed)
    return {values.begin(), values.end()};
  return transpose(values, parameter.shape[1], parameter.shape[0]);
}

std::vector<float> toFileLayout(const ProgramParameter &parameter,
                                std::span<const float> values) {
  assert(static_cast<int64_t>(values.size()) == elementsOf(parameter) &&
         "values must fill the parameter");
  if (!parameter.transposed)
    return {values.begin(), values.end()};
  return transpose(values, parameter.shape[0], parameter.shape[1]);
}

std::vector<float> initialValues(const ProgramParameter &parameter,
                                 uint64_t seed, InitialScheme scheme) {
  std::vector<float> values(elementsOf(parameter));
  if (parameter.role == ParameterRole::NormScale ||
      parameter.role == ParameterRole::RunningVar)
    values.assign(values.size(), 1.0f);
  if (parameter.role != ParameterRole::Weight)
    return values;

  double fanIn = 1, field = 1;
  for (size_t i = 1; i < parameter.shape.size(); ++i) {
    fanIn *= static_cast<double>(parameter.shape[i]);
    if (i > 1)
      field *= static_cast<double>(parameter.shape[i]);
  }
  double fanOut = parameter.shape.empty()
                      ? 1
                      : static_cast<double>(parameter.shape[0]) * field;
  double fan = scheme == InitialScheme::He ? fanIn : fanIn + fanOut;
  double deviation = fan > 0 ? std::sqrt(2 / fan) : 0;
  uint32_t name =
      crc32Of(0, std::as_bytes(std::span<const char>(parameter.name)));
  for (size_t i = 0; i < values.size(); i += 2) {
    uint64_t pair = i / 2;
    auto q = philox(seed, static_cast<uint32_t>(pair),
                    static_cast<uint32_t>(pair >> 32), name,
                    static_cast<uint32_t>(PhiloxDomain::InitialValues));
    double u1 = (static_cast<double>(q[0]) + 1) * 0x1p-32;
    double angle = 2 * std::numbers::pi * static_cast<double>(q[1]) * 0x1p-32;
    double radius = deviation * std::sqrt(-2 * std::log(u1));
    values[i] = static_cast<float>(radius * std::cos(angle));
    if (i + 1 < values.size())
      values[i + 1] = static_cast<float>(radius * std::sin(angle));
  }
  return values;
}

} // namespace hpcc::runtime
