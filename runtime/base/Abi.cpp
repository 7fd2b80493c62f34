// SPDX-License-Identifier: Apache-2.0
// The C ABI of generated code, on top of Context and the sharding functions.
#include "hpcc/abi.h"
#include "hpcc/sharding.h"
#include "runtime/base/Context.h"

using hpcc::runtime::Context;
namespace sharding = hpcc::sharding;

extern "C" {

void hpcc_rt_define(hpcc_context *context, int64_t id, const char *kind,
                    const char *json) {
  Context::of(context).define(id, kind, json);
}

void hpcc_rt_execute(hpcc_context *context, int64_t id, void **operands,
                     const int64_t *dims) {
  Context::of(context).execute(id, operands, dims);
}

int64_t hpcc_rt_comm_start(hpcc_context *context, int64_t id, void *src,
                           const int64_t *srcDims, void *dst,
                           const int64_t *dstDims, int64_t root, bool pred) {
  if (!pred)
    return -1;
  return Context::of(context).startCollective(id, src, srcDims, dst, dstDims,
                                              root);
}

void hpcc_rt_comm_wait(hpcc_context *context, int64_t request) {
  Context::of(context).wait(request);
}

void hpcc_rt_parallel_for(hpcc_context *context, hpcc_range_fn body,
                          void *captured, int64_t begin, int64_t end) {
  Context::of(context).parallelFor(body, captured, begin, end);
}

void hpcc_rt_chunk(int64_t scheme, int64_t workers, int64_t batch,
                   int64_t fcBatch, int64_t n, int64_t rank, int64_t pass,
                   int64_t *out) {
  sharding::Chunk chunk = sharding::chunk(
      {static_cast<sharding::Scheme>(scheme), workers, batch, fcBatch}, n, rank,
      pass);
  out[0] = chunk.offset;
  out[1] = chunk.count;
  out[2] = chunk.total;
  out[3] = chunk.root;
}

void hpcc_rt_shard(int64_t extent, int64_t workers, int64_t rank,
                   int64_t *out) {
  sharding::Range range = sharding::shard(extent, workers, rank);
  out[0] = range.offset;
  out[1] = range.size;
}

void hpcc_rt_examples(int64_t n, int64_t workers, int64_t rank, int64_t *out) {
  sharding::Range range = sharding::examples(n, workers, rank);
  out[0] = range.offset;
  out[1] = range.size;
}

} // extern "C"
