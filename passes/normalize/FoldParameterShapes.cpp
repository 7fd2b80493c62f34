// SPDX-License-Identifier: Apache-2.0
// Works on a module as a whole: a parameter may only change where all of its
// uses agree, which a local pattern cannot see.
#include "passes/Passes.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace hpcc;

namespace hpcc {
#define GEN_PASS_DEF_HPCCNORMALIZEFOLDPARAMETERSHAPES
#include "passes/Passes.h.inc"
} // namespace hpcc

namespace {
//===----------------------------------------------------------------------===//
// Analysis
//===----------------------------------------------------------------------===//

bool isMatrixTranspose(Operation *op) {
  auto transpose = dyn_cast<nn::TransposeOp>(op);
  return transpose && transpose.getPerm() == ArrayRef<int64_t>{1, 0};
}

/// The users of all loads of a parameter if each is the same change of shape,
/// else nothing.
SmallVector<Operation *> agreeingUsers(ArrayRef<nn::LoadOp> loads) {
  SmallVector<Operation *> users;
  for (nn::LoadOp load : loads)
    llvm::append_range(users, load->getUsers());
  for (Operation *user : users)
    if ((!isa<nn::ReshapeOp>(user) && !isMatrixTranspose(user)) ||
        user->getName() != users[0]->getName() ||
        user->getResultTypes() != users[0]->getResultTypes())
      return {};
  return users;
}

//===----------------------------------------------------------------------===//
// Rewrite
//===----------------------------------------------------------------------===//

/// Gives the parameter the shape of its users' results.
bool foldUsers(nn::ParameterOp parameter, ArrayRef<nn::LoadOp> loads) {
  SmallVector<Operation *> users = agreeingUsers(loads);
  if (users.empty())
    return false;
  bool transposes = isMatrixTranspose(users[0]);
  if (!transposes && parameter.getTransposed())
    return false;
  Type type = users[0]->getResult(0).getType();
  for (Operation *user : users) {
    user->getResult(0).replaceAllUsesWith(user->getOperand(0));
    user->erase();
  }
  for (nn::LoadOp load : loads)
    load.getResult().setType(cast<RankedTensorType>(type));
  parameter.setType(type);
  if (transposes)
    parameter.setTransposed(!parameter.getTransposed());
  return true;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct FoldParameterShapesPass
    : hpcc::impl::HpccNormalizeFoldParameterShapesBase<
          FoldParameterShapesPass> {
  void runOnOperation() override {
    llvm::MapVector<StringAttr, SmallVector<nn::LoadOp>> loads;
    getOperation().walk([&](nn::LoadOp load) {
      loads[load.getParameterAttr().getAttr()].push_back(load);
    });
    SymbolTable symbols(getOperation());
    for (auto &[name, uses] : loads) {
      auto parameter = symbols.lookup<nn::ParameterOp>(name);
      while (foldUsers(parameter, uses)) {
      }
    }
  }
};
} // namespace
