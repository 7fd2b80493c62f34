// SPDX-License-Identifier: Apache-2.0
// What bufferization could not do in place: an error for parameters and their
// state, an ordinary kernel for activations.
#include "passes/FunctionArguments.h"
#include "passes/Passes.h"

namespace hpcc {
#define GEN_PASS_DEF_BUFFERIZERESOLVECOPIES
#include "passes/Passes.h.inc"
} // namespace hpcc

using namespace mlir;
using namespace hpcc;

/// The parameter or state that a buffer belongs to; null where it holds none.
static DictionaryAttr stateOf(Value buffer) {
  BlockArgument argument = rootArgument(buffer);
  if (!argument)
    return {};
  auto function = cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  DictionaryAttr dict = argumentOf(function, argument.getArgNumber());
  StringRef kind = stringIn(dict, "kind");
  return kind == "value" || kind == "state" ? dict : DictionaryAttr();
}

static LogicalResult check(memref::CopyOp copy) {
  // Gradients are asked for by value: a parameter may be an output.
  bool toResult = false;
  if (BlockArgument to = rootArgument(copy.getTarget()))
    toResult =
        argumentKind(cast<FunctionOpInterface>(to.getOwner()->getParentOp()),
                     to.getArgNumber()) == "result";
  for (Value buffer : {copy.getSource(), copy.getTarget()}) {
    DictionaryAttr state = stateOf(buffer);
    if (!state || toResult)
      continue;
    InFlightDiagnostic diag = copy.emitError()
                              << "copies " << stringIn(state, "kind") << " \""
                              << stringIn(state, "name")
                              << "\", which must be updated in place";
    diag.attachNote() << "an old value is used after its update";
    return diag;
  }
  return success();
}

namespace {
struct ResolveCopies : hpcc::impl::BufferizeResolveCopiesBase<ResolveCopies> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    bool bad = false;
    for (memref::CopyOp copy : copies) {
      if (failed(check(copy))) {
        bad = true;
        continue;
      }
      OpBuilder b(copy);
      linalg::CopyOp::create(b, copy.getLoc(), copy.getSource(),
                             copy.getTarget());
      copy.erase();
    }
    if (bad)
      signalPassFailure();
  }
};
} // namespace
