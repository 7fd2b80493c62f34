// SPDX-License-Identifier: Apache-2.0
// Machine code by upstream's execution engine; the C ABI is bound from its one
// list, abi.def.
#include "tools/hpcc/Jit.h"

#include "hpcc/abi.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace hpcc;
using runtime::Result;
using runtime::Status;

static Status jitError(llvm::Error error) {
  return Status::error(runtime::StatusCode::internal,
                       "machine code could not be made: " +
                           llvm::toString(std::move(error)));
}

Jit::Jit(std::unique_ptr<mlir::ExecutionEngine> engine)
    : engine(std::move(engine)) {}
Jit::~Jit() = default;

static llvm::orc::SymbolMap abiSymbols(llvm::orc::MangleAndInterner mangle) {
  llvm::orc::SymbolMap symbols;
#define HPCC_ABI_ENTRY(result, name, ...)                                      \
  symbols[mangle(#name)] = {llvm::orc::ExecutorAddr::fromPtr(&name),           \
                            llvm::JITSymbolFlags::Exported};
#include "hpcc/abi.def"
  return symbols;
}

Result<std::unique_ptr<Jit>> Jit::create(mlir::ModuleOp module) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  module->getContext()->appendDialectRegistry(registry);

  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return jitError(builder.takeError());
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  auto machine = builder->createTargetMachine();
  if (!machine)
    return jitError(machine.takeError());
  auto optimize = mlir::makeOptimizingTransformer(
      /*optLevel=*/3, /*sizeLevel=*/0, machine->get());
  mlir::ExecutionEngineOptions options;
  options.transformer = optimize;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Aggressive;
  auto engine = mlir::ExecutionEngine::create(module, options);
  if (!engine)
    return jitError(engine.takeError());
  (*engine)->registerSymbols(abiSymbols);
  return std::unique_ptr<Jit>(new Jit(std::move(*engine)));
}

runtime::ProgramEntry Jit::lookup(llvm::StringRef name) {
  auto entry = engine->lookupPacked(("_mlir_ciface_" + name).str());
  if (!entry) {
    llvm::consumeError(entry.takeError());
    return nullptr;
  }
  return *entry;
}
