// SPDX-License-Identifier: Apache-2.0
// The op interfaces and opt-out traits of hpcc.
#pragma once

#include "dialects/interfaces/FeaturePartitioner.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/PatternMatch.h"

namespace hpcc {
template <typename T>
class ImageTrait : public mlir::OpTrait::TraitBase<T, ImageTrait> {};
template <typename T>
class PointwiseTrait : public mlir::OpTrait::TraitBase<T, PointwiseTrait> {};
template <typename T>
class LossTrait : public mlir::OpTrait::TraitBase<T, LossTrait> {};
template <typename T>
class UpdateTrait : public mlir::OpTrait::TraitBase<T, UpdateTrait> {};
template <typename T>
class NotDifferentiable
    : public mlir::OpTrait::TraitBase<T, NotDifferentiable> {};
template <typename T>
class ReplicatedOnly : public mlir::OpTrait::TraitBase<T, ReplicatedOnly> {};
template <typename T>
class NoLowering : public mlir::OpTrait::TraitBase<T, NoLowering> {};
template <typename T>
class NoCost : public mlir::OpTrait::TraitBase<T, NoCost> {};
} // namespace hpcc

#include "dialects/interfaces/Interfaces.h.inc"
