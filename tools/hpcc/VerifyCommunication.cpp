// SPDX-License-Identifier: Apache-2.0
// Compares counted bytes with the ledger.
#include "tools/hpcc/VerifyCommunication.h"

#include "tools/hpcc/Ledger.h"

using namespace mlir;
using namespace hpcc;
using runtime::Result;
using runtime::Status;

CommunicationVerifier::CommunicationVerifier(ModuleOp module)
    : program(module.clone()) {}

void CommunicationVerifier::beforeStep() {
  before.clear();
  for (int64_t rank = 0; rank < workers->size(); ++rank)
    before.push_back(workers->receivedBytes(rank));
}

Result<std::vector<int64_t>> CommunicationVerifier::expected(int64_t examples) {
  if (auto found = known.find(examples); found != known.end())
    return found->second;
  auto step = program->lookupSymbol<func::FuncOp>("train_step");
  std::vector<int64_t> bytes;
  for (int64_t rank = 0; rank < workers->size(); ++rank) {
    FailureOr<Ledger> ledger =
        computeLedger(step, examples, rank, workers->size());
    if (failed(ledger))
      return Status::error(runtime::StatusCode::internal,
                           "--verify-comm: the ledger of " +
                               std::to_string(examples) +
                               " examples could not be computed");
    bytes.push_back(ledger->bytes());
  }
  return known[examples] = bytes;
}

Status CommunicationVerifier::afterStep(int64_t step, int64_t examples) {
  Result<std::vector<int64_t>> bytes = expected(examples);
  if (!bytes)
    return bytes.status();
  for (int64_t rank = 0; rank < workers->size(); ++rank) {
    int64_t got = workers->receivedBytes(rank) - before[rank];
    if (got != (*bytes)[rank])
      return runtime::invalidArgument(
          "--verify-comm: worker " + std::to_string(rank) + " received " +
          std::to_string(got) + " bytes in step " + std::to_string(step) +
          " of " + std::to_string(examples) + " examples; the ledger expects " +
          std::to_string((*bytes)[rank]));
  }
  return {};
}
