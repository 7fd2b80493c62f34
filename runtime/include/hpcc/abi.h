/* SPDX-License-Identifier: Apache-2.0
 * The C ABI between generated code and the runtime. Errors are sticky in the
 * context: after one, every call returns at once, and the next collective of
 * every worker stops with the same message.
 *
 * hpcc_rt_define(context, id, kind, json)
 *   Fills entry `id` of the descriptor table; called by @init. `kind` is a
 *   kernel kind or "comm"; json holds "node", "ranks" and the attributes.
 * hpcc_rt_execute(context, id, operands, dims)
 *   Runs a kernel. operands: inputs, then outputs, row-major and contiguous.
 *   dims: their shapes concatenated; "ranks" says where each ends.
 * hpcc_rt_comm_start(context, id, src, src_dims, dst, dst_dims, root, pred)
 *   Starts a collective and returns a request, or -1 (nothing to wait for) when
 *   pred is false or there was an error. A collective of the inline channel has
 *   completed when this returns.
 * hpcc_rt_comm_wait(context, request)
 *   Returns when the request has completed. -1 is allowed.
 * hpcc_rt_parallel_for(context, fn, captured, begin, end)
 *   Calls fn(captured, b, e) for disjoint ranges that cover [begin, end), on
 *   the worker's threads; not at all for an empty range.
 * hpcc_rt_chunk(scheme, workers, batch, fc_batch, n, rank, pass, out)
 *   out = {offset, count, total, root}; scheme: 0 = a, 1 = b, 2 = c.
 * hpcc_rt_shard(extent, workers, rank, out), hpcc_rt_examples(n, workers, rank,
 *   out)
 *   out = {offset, size}. All three are the functions of sharding.h.
 */
#ifndef HPCC_ABI_H
#define HPCC_ABI_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hpcc_context hpcc_context;
typedef void (*hpcc_range_fn)(void *captured, int64_t begin, int64_t end);

#define HPCC_ABI_ENTRY(result, name, ...) result name(__VA_ARGS__);
#include "hpcc/abi.def"

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HPCC_ABI_H */
