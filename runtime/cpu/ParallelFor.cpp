// SPDX-License-Identifier: Apache-2.0
// Parallel loops through libgomp's own entry points.
#include "runtime/cpu/ParallelFor.h"
#include <algorithm>

extern "C" {
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads,
                   unsigned flags);
int omp_get_thread_num(void);
int omp_get_num_threads(void);
void omp_set_num_threads(int threads);
}

using namespace hpcc::runtime;

namespace {
struct Job {
  cpu::RangeFunction body;
  void *captured;
  int64_t begin;
  int64_t end;
};
} // namespace

static void runShare(void *data) {
  const Job &job = *static_cast<Job *>(data);
  int64_t thread = omp_get_thread_num();
  int64_t threads = omp_get_num_threads();
  int64_t quotient = (job.end - job.begin) / threads;
  int64_t remainder = (job.end - job.begin) % threads;
  int64_t begin = job.begin + thread * quotient + std::min(thread, remainder);
  int64_t end = begin + quotient + (thread < remainder ? 1 : 0);
  if (begin < end)
    job.body(job.captured, begin, end);
}

void cpu::parallelFor(int threads, RangeFunction body, void *captured,
                      int64_t begin, int64_t end) {
  if (begin >= end)
    return;
  int64_t team = std::min<int64_t>(threads, end - begin);
  if (team <= 1)
    return body(captured, begin, end);
  Job job{body, captured, begin, end};
  GOMP_parallel(runShare, &job, unsigned(team), 0);
}

void cpu::setTeamSize(int threads) { omp_set_num_threads(threads); }
