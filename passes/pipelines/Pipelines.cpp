// SPDX-License-Identifier: Apache-2.0
// The bundle of each phase. No rewriting here.
#include "passes/pipelines/Pipelines.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "passes/lower/RuntimeToLlvm.h"

using namespace mlir;
using namespace hpcc;

static void simplify(OpPassManager &manager) {
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

static void buildNormalized(OpPassManager &manager) {
  manager.addPass(createHpccNormalizeFoldBias());
  simplify(manager);
  manager.addPass(createHpccNormalizeFoldParameterShapes());
}

static void buildTraining(OpPassManager &manager) {
  manager.addPass(createHpccTrainingAttachLoss());
  manager.addPass(createHpccTrainingDifferentiate());
  manager.addPass(createHpccTrainingUpdateParameters());
  simplify(manager);
}

static void buildPartitioned(OpPassManager &manager) {
  manager.addPass(createHpccPartitionPlaceLayers());
  manager.addPass(createHpccPartitionFormHead());
}

static void buildComm(OpPassManager &manager) {
  manager.addPass(createHpccCommScaleRates());
  manager.addPass(createHpccCommExpandHead());
  manager.addPass(createHpccCommFormBuckets());
  simplify(manager);
}

static void buildLayout(OpPassManager &manager, const TargetInfo &target) {
  manager.addPass(createHpccLayoutBlockImages({target.imageBlock()}));
  simplify(manager);
}

static void buildFused(OpPassManager &manager) {
  manager.addPass(createHpccFuseLowerGenerated());
  simplify(manager);
  manager.addPass(createHpccFuseElementwise());
  simplify(manager);
  manager.addPass(createHpccFuseReuseOperands());
}

static void buildBufferized(OpPassManager &manager) {
  manager.addPass(createBufferizeLowerLibrary());
  // Extents of reshaped values follow from those of arguments.
  manager.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
  simplify(manager);
  manager.addPass(createBufferizePlaceResults());
  manager.addPass(createBufferizeWrapFunctions());
  manager.addPass(bufferization::createEmptyTensorEliminationPass());
  manager.addPass(bufferization::createOneShotBufferizePass());
  simplify(manager);
  // Copies of a buffer to itself fold only now.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createBufferizeResolveCopies());
  manager.addPass(createBufferizeResolveDimensions());
  simplify(manager);
  manager.addPass(createBufferizePackBuffers());
}

static void buildScheduled(OpPassManager &manager, const TargetInfo &target) {
  manager.addNestedPass<func::FuncOp>(
      createScheduleOverlapCollectives({target.bufferAlignment()}));
  simplify(manager);
}

static void buildArena(OpPassManager &manager, const TargetInfo &target) {
  manager.addNestedPass<func::FuncOp>(
      createArenaPlanMemory({target.bufferAlignment()}));
  manager.addPass(createCanonicalizerPass());
}

static void buildRt(OpPassManager &manager, const TargetInfo &target) {
  manager.addPass(createLowerOutlineKernels({target.parallelGrain()}));
  manager.addPass(createLowerToRuntime());
  simplify(manager);
}

static void buildLlvm(OpPassManager &manager) {
  manager.addPass(createLowerDescribeProgram());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createConvertToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(createLowerRestrictPointers());
  simplify(manager);
}

void hpcc::buildPhase(OpPassManager &manager, Phase phase,
                      const TargetInfo &target) {
  switch (phase) {
  case Phase::Import:
    break;
  case Phase::Normalized:
    buildNormalized(manager);
    break;
  case Phase::Training:
    buildTraining(manager);
    break;
  case Phase::Partitioned:
    buildPartitioned(manager);
    break;
  case Phase::Comm:
    buildComm(manager);
    break;
  case Phase::Layout:
    buildLayout(manager, target);
    break;
  case Phase::Fused:
    buildFused(manager);
    break;
  case Phase::Bufferized:
    buildBufferized(manager);
    break;
  case Phase::Scheduled:
    buildScheduled(manager, target);
    break;
  case Phase::Arena:
    buildArena(manager, target);
    break;
  case Phase::Rt:
    buildRt(manager, target);
    break;
  case Phase::Llvm:
    buildLlvm(manager);
    break;
  }
}

void hpcc::buildPhaseCheck(OpPassManager &manager, Phase phase) {
  VerifyPhaseOptions verify;
  verify.phase = phaseName(phase).str();
  manager.addPass(createVerifyPhase(verify));
}

LogicalResult hpcc::runPhases(ModuleOp module, Phase from, Phase to,
                              const TargetInfo &target,
                              const PhaseHooks &hooks) {
  if (to < from)
    return module.emitError()
           << "cannot go back from phase `" << phaseName(from) << "` to `"
           << phaseName(to) << "`";
  for (const PhaseInfo &info : phases()) {
    if (info.phase < from || to < info.phase)
      continue;
    PassManager manager(module->getName());
    if (info.phase != from) {
      buildPhase(manager, info.phase, target);
      if (hooks.configure)
        hooks.configure(manager, info.phase);
    }
    buildPhaseCheck(manager, info.phase);
    if (failed(manager.run(module)))
      return failure();
    if (hooks.reached && failed(hooks.reached(module, info.phase)))
      return failure();
  }
  return success();
}

void hpcc::registerPhaseDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<nn::NNDialect, comm::CommDialect, rt::RtDialect>();
  registerRuntimeToLlvm(registry);
}

void hpcc::registerPhasePipelines() {
  for (const PhaseInfo &info : phases())
    registerPassPipeline(
        "hpcc-phase-" + info.name.str(), info.description,
        [phase = info.phase](OpPassManager &manager, StringRef options,
                             function_ref<LogicalResult(const Twine &)> error) {
          if (!options.empty())
            return error("hpcc-phase pipelines have no options");
          buildPhase(manager, phase, TargetInfo());
          buildPhaseCheck(manager, phase);
          return success();
        },
        [](function_ref<void(const mlir::detail::PassOptions &)>) {});
}
