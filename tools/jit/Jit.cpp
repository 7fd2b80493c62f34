// SPDX-License-Identifier: Apache-2.0
// Machine code by upstream's execution engine; the C ABI is bound from its one
// list, abi.def.
#include "tools/jit/Jit.h"

#include "hpcc/abi.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace hpcc;
using runtime::Result;
using runtime::Status;

static constexpr llvm::StringLiteral kEntry = "_mlir_ciface_";
// What the execution engine puts before the name of a wrapper that takes
// void **.
static constexpr llvm::StringLiteral kPacked = "_mlir_";

static Status jitError(llvm::Error error) {
  return Status::error(runtime::StatusCode::internal,
                       "machine code could not be made: " +
                           llvm::toString(std::move(error)));
}

static llvm::orc::SymbolMap abiSymbols(llvm::orc::MangleAndInterner mangle) {
  llvm::orc::SymbolMap symbols;
#define HPCC_ABI_ENTRY(result, name, ...)                                      \
  symbols[mangle(#name)] = {llvm::orc::ExecutorAddr::fromPtr(&name),           \
                            llvm::JITSymbolFlags::Exported};
#include "hpcc/abi.def"
  return symbols;
}

/// The execution engine exports every function and wraps each one. Only entries
/// are called from outside, and what is not exported can be inlined and
/// dropped.
static void keepEntriesOnly(llvm::Module &module) {
  auto isEntry = [](llvm::StringRef name) {
    return name.consume_front(kPacked) && name.starts_with(kEntry);
  };
  for (llvm::Function &function : llvm::make_early_inc_range(module)) {
    if (function.isDeclaration() || isEntry(function.getName()))
      continue;
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    if (function.getName().starts_with(kPacked) && function.use_empty())
      function.eraseFromParent();
  }
}

/// A copy without attributes of other dialects, which mean nothing to LLVM.
static mlir::OwningOpRef<mlir::ModuleOp> stripped(mlir::ModuleOp module) {
  mlir::OwningOpRef<mlir::ModuleOp> copy(module.clone());
  for (mlir::NamedAttribute attr :
       llvm::to_vector((*copy)->getDiscardableAttrs()))
    if (!attr.getName().getValue().starts_with("llvm."))
      (*copy)->removeDiscardableAttr(attr.getName());
  (*copy)->walk([](mlir::LLVM::LLVMFuncOp function) {
    for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
      for (mlir::NamedAttribute attr : llvm::to_vector(
               mlir::cast<mlir::FunctionOpInterface>(*function).getArgAttrs(i)))
        if (!attr.getName().getValue().starts_with("llvm."))
          function.removeArgAttr(i, attr.getName());
  });
  return copy;
}

Result<std::unique_ptr<Jit>> Jit::create(mlir::ModuleOp module) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  mlir::registerBuiltinDialectTranslation(*module->getContext());
  mlir::registerLLVMDialectTranslation(*module->getContext());

  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return jitError(builder.takeError());
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  auto machine = builder->createTargetMachine();
  if (!machine)
    return jitError(machine.takeError());

  auto optimize = mlir::makeOptimizingTransformer(
      /*optLevel=*/3, /*sizeLevel=*/0, machine->get());
  auto transform = [&](llvm::Module *ir) {
    keepEntriesOnly(*ir);
    return optimize(ir);
  };
  mlir::ExecutionEngineOptions options;
  options.transformer = transform;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Aggressive;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto copy = stripped(module);
  auto engine = mlir::ExecutionEngine::create(*copy, options);
  if (!engine)
    return jitError(engine.takeError());
  (*engine)->registerSymbols(abiSymbols);
  return std::unique_ptr<Jit>(new Jit(std::move(*engine)));
}

Jit::Jit(std::unique_ptr<mlir::ExecutionEngine> engine)
    : engine(std::move(engine)) {}
Jit::~Jit() = default;

runtime::ProgramEntry Jit::lookup(llvm::StringRef name) const {
  auto entry = engine->lookupPacked((kEntry + name).str());
  if (!entry) {
    llvm::consumeError(entry.takeError());
    return nullptr;
  }
  return *entry;
}
