// SPDX-License-Identifier: Apache-2.0
// The ledger against closed formulas, computed here by hand.
#include "tools/hpcc/Ledger.h"
#include "passes/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace hpcc;

TEST(ReceivedBytes, FollowsTheDefinition) {
  using comm::Kind;
  // 3 workers, 7 floats: shards of 3, 2, 2.
  EXPECT_EQ(receivedBytes(Kind::AllGather, 3, 0, -1, 12, 28, 4), 16);
  EXPECT_EQ(receivedBytes(Kind::ReduceScatter, 3, 0, -1, 28, 12, 4), 24);
  EXPECT_EQ(receivedBytes(Kind::Broadcast, 3, 1, 2, 28, 28, 4), 28);
  EXPECT_EQ(receivedBytes(Kind::Broadcast, 3, 2, 2, 28, 28, 4), 0);
  EXPECT_EQ(receivedBytes(Kind::Reduce, 3, 2, 2, 28, 28, 4), 56);
  EXPECT_EQ(receivedBytes(Kind::Reduce, 3, 1, 2, 28, 28, 4), 0);
  EXPECT_EQ(receivedBytes(Kind::AllReduce, 3, 0, -1, 28, 28, 4), 24 + 16);
  EXPECT_EQ(receivedBytes(Kind::AllReduce, 3, 1, -1, 28, 28, 4), 16 + 20);
  EXPECT_EQ(receivedBytes(Kind::AllGatherInPlace, 3, 1, -1, 0, 28, 4), 20);
}

namespace {
class LedgerTest : public testing::Test {
protected:
  LedgerTest() {
    context.loadDialect<nn::NNDialect, comm::CommDialect, func::FuncDialect,
                        scf::SCFDialect, tensor::TensorDialect,
                        arith::ArithDialect>();
  }
  FailureOr<Ledger> ledger(const char *text, int64_t n, int64_t rank,
                           int64_t workers) {
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return failure();
    return computeLedger(*module->getOps<func::FuncOp>().begin(), n, rank,
                         workers);
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

// 3 workers, batch 8 (2, 3, 3 examples), scheme c with its 3 passes, boundary
// of 5 floats.
static const char *kPassLoop = R"mlir(
func.func @train_step(%x: tensor<?x5xf32> {nn.arg = {kind = "input"}},
    %n: index {nn.arg = {kind = "examples"}}, %rank: index {nn.arg = {kind = "rank"}})
    -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : tensor<f32>
  %rows = tensor.dim %x, %c0 : tensor<?x5xf32>
  %grad0 = tensor.empty(%rows) : tensor<?x5xf32>
  %loss, %grad = scf.for %i = %c0 to %c3 step %c1
      iter_args(%sum = %zero, %g = %grad0) -> (tensor<f32>, tensor<?x5xf32>) {
    %offset, %count, %total, %root = nn.chunk %n rank(%rank) pass(%i)
        {scheme = "c", workers = 3, batch = 8, fc_batch = 0}
    %mine = tensor.extract_slice %x[%offset, 0] [%count, 5] [1, 1]
        : tensor<?x5xf32> to tensor<?x5xf32>
    %all0 = tensor.empty(%total) : tensor<?x5xf32>
    %all = comm.all_gather ins(%mine : tensor<?x5xf32>) outs(%all0 : tensor<?x5xf32>)
        channel(background) -> tensor<?x5xf32>
    %some = arith.cmpi ne, %total, %c0 : index
    %back = scf.if %some -> (tensor<?x5xf32>) {
      %to = tensor.empty(%count) : tensor<?x5xf32>
      %r = comm.reduce_scatter ins(%all : tensor<?x5xf32>) outs(%to : tensor<?x5xf32>)
          channel(background) -> tensor<?x5xf32>
      scf.yield %r : tensor<?x5xf32>
    } else {
      scf.yield %mine : tensor<?x5xf32>
    }
    %next = tensor.insert_slice %back into %g[%offset, 0] [%count, 5] [1, 1]
        : tensor<?x5xf32> into tensor<?x5xf32>
    scf.yield %sum, %next : tensor<f32>, tensor<?x5xf32>
  }
  %out = tensor.empty() : tensor<f32>
  %r = comm.all_reduce ins(%loss : tensor<f32>) outs(%out : tensor<f32>)
      channel(inline) -> tensor<f32>
  return %r : tensor<f32>
})mlir";

TEST_F(LedgerTest, GathersAndScattersEveryRowOnce) {
  for (int64_t n : {8, 7, 3, 1})
    for (int64_t rank = 0; rank < 3; ++rank) {
      FailureOr<Ledger> result = ledger(kPassLoop, n, rank, 3);
      ASSERT_TRUE(succeeded(result));
      int64_t own = (rank + 1) * n / 3 - rank * n / 3;
      // Forward: all rows but the own ones; back: K - 1 parts for own rows;
      // the loss: worker 0 owns the only element.
      int64_t loss = 4 * (rank == 0 ? 2 : 1);
      EXPECT_EQ(result->bytes(), (n - own) * 5 * 4 + 2 * own * 5 * 4 + loss)
          << "n = " << n << ", rank = " << rank;
    }
}

TEST_F(LedgerTest, SaysWhichPassACollectiveBelongsTo) {
  FailureOr<Ledger> result = ledger(kPassLoop, 8, 1, 3);
  ASSERT_TRUE(succeeded(result));
  ASSERT_EQ(result->entries.size(), 7u);
  EXPECT_EQ(result->entries[0].pass, 0);
  EXPECT_EQ(result->entries[5].pass, 2);
  EXPECT_EQ(result->entries[5].kind, comm::Kind::ReduceScatter);
  EXPECT_EQ(result->entries[6].pass, -1);
  EXPECT_EQ(result->entries[6].channel, comm::Channel::Inline);
}

TEST_F(LedgerTest, SkipsBranchesThatAreNotTaken) {
  // One example: two of the three passes are empty.
  FailureOr<Ledger> result = ledger(kPassLoop, 1, 2, 3);
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->entries.size(), 3u + 1 + 1);
}

TEST_F(LedgerTest, NamesWhatItCannotEvaluate) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_TRUE(failed(ledger(R"mlir(
    func.func @f(%n: index, %x: tensor<4xf32>) -> tensor<?xf32> {
      %to = tensor.empty(%n) : tensor<?xf32>
      %y = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
      %r = comm.all_gather ins(%y : tensor<?xf32>) outs(%to : tensor<?xf32>)
          channel(inline) -> tensor<?xf32>
      return %r : tensor<?xf32>
    })mlir",
                            8, 0, 2)));
  EXPECT_EQ(message, "the ledger does not know the value of this argument");
}
