// SPDX-License-Identifier: Apache-2.0
// A prepared list of library primitives over operands and scratch memory:
// usually reorder, compute, reorder. Running it only sets addresses.
#ifndef HPCC_RUNTIME_CPU_SEQUENCE_H
#define HPCC_RUNTIME_CPU_SEQUENCE_H

#include "runtime/cpu/CpuKernel.h"
#include <initializer_list>
#include <utility>

namespace hpcc::runtime::cpu {

class Sequence final : public Variant {
public:
  /// Names a memory of this sequence.
  using MemoryId = int;

  Sequence(CpuEngine &engine, std::string where)
      : engine(engine), where(std::move(where)) {}

  /// Attributes every primitive of a sequence must have.
  static dnnl::primitive_attr attributes();

  /// Operand `index` of the kernel.
  MemoryId operand(int index, const dnnl::memory::desc &desc);
  /// A piece of scratch memory that lives while the sequence runs.
  MemoryId scratch(const dnnl::memory::desc &desc);

  void add(const dnnl::primitive &primitive,
           const dnnl::primitive_desc_base &description,
           std::initializer_list<std::pair<int, MemoryId>> arguments);
  /// `source` in another layout: itself, or scratch filled by a reorder.
  MemoryId converted(MemoryId source, const dnnl::memory::desc &desc);
  /// Where to write a result in `desc` that must end up in `target`: `target`
  /// itself or scratch; pass the answer to store() after the computation.
  MemoryId destination(MemoryId target, const dnnl::memory::desc &desc);
  /// Moves `source` to `target`, or adds it.
  void store(MemoryId source, MemoryId target, bool accumulate = false);

  /// Reserves the scratch memory; no step may be added afterwards.
  Status finish();
  Status run(void *const *operands) override;

  const dnnl::memory::desc &descOf(MemoryId id) const { return slots[id].desc; }

private:
  struct Slot {
    dnnl::memory::desc desc;
    dnnl::memory memory;
    int operand = -1; ///< Else scratch.
    size_t offset = 0;
    void *address = nullptr;
  };
  struct Step {
    dnnl::primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;
  };
  MemoryId addSlot(const dnnl::memory::desc &desc, int operand, size_t offset);

  CpuEngine &engine;
  const std::string where;
  std::vector<Slot> slots;
  std::vector<Step> steps;
  size_t scratchBytes = 0;
  /// Slots of the primitives' own scratchpads; they share one place.
  std::vector<MemoryId> scratchpads;
  size_t scratchpadBytes = 0;
};

} // namespace hpcc::runtime::cpu

#endif // HPCC_RUNTIME_CPU_SEQUENCE_H
