// SPDX-License-Identifier: Apache-2.0
// Prepared lists of primitives. The C entry point runs them, because the C++
// one builds a vector for every call.
#include "runtime/cpu/Sequence.h"

using namespace hpcc::runtime;
using namespace hpcc::runtime::cpu;
using dnnl::memory;

static size_t aligned(size_t bytes) {
  constexpr size_t alignment = ScratchBuffer::kAlignment;
  return (bytes + alignment - 1) / alignment * alignment;
}

dnnl::primitive_attr Sequence::attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

Sequence::MemoryId Sequence::addSlot(const memory::desc &desc, int operand,
                                     size_t offset) {
  slots.push_back({desc, memory(desc, engine.library(), DNNL_MEMORY_NONE),
                   operand, offset, nullptr});
  return slots.size() - 1;
}

Sequence::MemoryId Sequence::operand(int index, const memory::desc &desc) {
  return addSlot(desc, index, 0);
}

Sequence::MemoryId Sequence::scratch(const memory::desc &desc) {
  size_t offset = scratchBytes;
  scratchBytes += aligned(desc.get_size());
  return addSlot(desc, -1, offset);
}

void Sequence::add(const dnnl::primitive &primitive,
                   const dnnl::primitive_desc_base &description,
                   std::initializer_list<std::pair<int, MemoryId>> arguments) {
  Step step{primitive, {}};
  for (auto [argument, id] : arguments)
    step.arguments.push_back({argument, slots[id].memory.get()});
  memory::desc scratchpad = description.query_md(dnnl::query::scratchpad_md);
  if (size_t bytes = scratchpad.get_size()) {
    scratchpadBytes = std::max(scratchpadBytes, bytes);
    scratchpads.push_back(addSlot(scratchpad, -1, 0));
    step.arguments.push_back(
        {DNNL_ARG_SCRATCHPAD, slots[scratchpads.back()].memory.get()});
  }
  steps.push_back(std::move(step));
}

Sequence::MemoryId Sequence::converted(MemoryId source,
                                       const memory::desc &desc) {
  if (slots[source].desc == desc)
    return source;
  MemoryId target = scratch(desc);
  store(source, target);
  return target;
}

Sequence::MemoryId Sequence::destination(MemoryId target,
                                         const memory::desc &desc) {
  return slots[target].desc == desc ? target : scratch(desc);
}

void Sequence::store(MemoryId source, MemoryId target, bool accumulate) {
  if (source == target)
    return;
  dnnl::primitive_attr attr = attributes();
  if (accumulate) {
    dnnl::post_ops operations;
    operations.append_sum(1.0f);
    attr.set_post_ops(operations);
  }
  const dnnl::engine &library = engine.library();
  dnnl::reorder::primitive_desc description(library, slots[source].desc,
                                            library, slots[target].desc, attr);
  add(dnnl::reorder(description), description,
      {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}});
}

Status Sequence::finish() {
  for (MemoryId id : scratchpads)
    slots[id].offset = scratchBytes;
  return engine.reserveScratch(scratchBytes + scratchpadBytes);
}

Status Sequence::run(void *const *operands) {
  for (Slot &slot : slots) {
    void *address = slot.operand >= 0 ? operands[slot.operand]
                                      : engine.scratch() + slot.offset;
    if (address == slot.address)
      continue;
    dnnl_status_t status =
        dnnl_memory_set_data_handle(slot.memory.get(), address);
    if (status != dnnl_success)
      return Status::error(StatusCode::internal,
                           where + ": oneDNN dnnl_memory_set_data_handle: " +
                               std::string(toString(status)));
    slot.address = address;
  }
  for (const Step &step : steps) {
    dnnl_status_t status =
        dnnl_primitive_execute(step.primitive.get(), engine.stream().get(),
                               step.arguments.size(), step.arguments.data());
    if (status != dnnl_success)
      return Status::error(StatusCode::environment,
                           where + ": oneDNN dnnl_primitive_execute: " +
                               std::string(toString(status)));
  }
  return Status::success();
}
