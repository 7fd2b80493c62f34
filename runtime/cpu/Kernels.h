// SPDX-License-Identifier: Apache-2.0
// Factories of the kernel families, one per kind; the table that names them is
// in CpuDevice.cpp. Operands and attributes of each kind: the family's file.
#ifndef HPCC_RUNTIME_CPU_KERNELS_H
#define HPCC_RUNTIME_CPU_KERNELS_H

#include "runtime/cpu/CpuKernel.h"

namespace hpcc::runtime::cpu {

using KernelResult = Result<std::unique_ptr<Kernel>>;
using KernelFactory = KernelResult (*)(CpuEngine &, KernelSpec);

KernelResult createConvForward(CpuEngine &, KernelSpec);
KernelResult createConvBackwardData(CpuEngine &, KernelSpec);
KernelResult createConvBackwardWeights(CpuEngine &, KernelSpec);
KernelResult createLinearForward(CpuEngine &, KernelSpec);
KernelResult createLinearBackwardData(CpuEngine &, KernelSpec);
KernelResult createLinearBackwardWeights(CpuEngine &, KernelSpec);
KernelResult createMaxPoolForward(CpuEngine &, KernelSpec);
KernelResult createMaxPoolBackward(CpuEngine &, KernelSpec);
KernelResult createAvgPoolForward(CpuEngine &, KernelSpec);
KernelResult createAvgPoolBackward(CpuEngine &, KernelSpec);
KernelResult createBatchNormForward(CpuEngine &, KernelSpec);
KernelResult createBatchNormInference(CpuEngine &, KernelSpec);
KernelResult createBatchNormBackward(CpuEngine &, KernelSpec);
KernelResult createLrnForward(CpuEngine &, KernelSpec);
KernelResult createLrnBackward(CpuEngine &, KernelSpec);
KernelResult createSoftmaxForward(CpuEngine &, KernelSpec);
KernelResult createSoftmaxBackward(CpuEngine &, KernelSpec);
KernelResult createLogSoftmaxForward(CpuEngine &, KernelSpec);
KernelResult createLogSoftmaxBackward(CpuEngine &, KernelSpec);
KernelResult createReorder(CpuEngine &, KernelSpec);

/// Error unless the number of operands is in [least, most].
Status checkOperandCount(const KernelSpec &spec, size_t least, size_t most);

} // namespace hpcc::runtime::cpu

#endif // HPCC_RUNTIME_CPU_KERNELS_H
