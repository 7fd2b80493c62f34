// SPDX-License-Identifier: Apache-2.0
// Debug-mode checks would leave the wrong tail of an unequal all-reduce to be
// found in the trained weights; comparing a few integers costs nothing, so
// every collective is checked.
#include "runtime/comm/local/Exchange.h"

using namespace hpcc::runtime;
using namespace hpcc::runtime::local;

std::string hpcc::runtime::local::describe(const Contribution &part) {
  const CollectiveOptions &options = *part.options;
  std::string text;
  if (part.step >= 0)
    text = "step " + std::to_string(part.step) + ", ";
  text += "collective " + std::to_string(part.sequence) + " (" +
          std::string(toString(options.op));
  if (!options.node.empty())
    text += " of '" + options.node + "'";
  return text + ", " + std::string(toString(options.channel)) + " channel)";
}

namespace {

class Validator {
public:
  explicit Validator(std::span<const Contribution> parts) : parts(parts) {}
  Status run();

private:
  Status sameProgram();
  Status shapes();
  Status fail(std::string what) const {
    return Status::error(StatusCode::internal,
                         describe(parts[0]) + ": " + std::move(what));
  }
  Status differ(size_t worker, const char *what, std::string_view got,
                std::string_view expected) const {
    return fail("worker " + std::to_string(worker) + " has " + what + " " +
                std::string(got) + " but worker 0 has " +
                std::string(expected));
  }
  Status same(BufferView Contribution::*buffer, const char *name) const;
  Status partsOfDim(BufferView Contribution::*part,
                    BufferView Contribution::*whole, const char *partName,
                    const char *wholeName) const;

  std::span<const Contribution> parts;
};

bool sameShape(const BufferView &a, const BufferView &b) {
  return a.rank == b.rank &&
         std::equal(a.dims.begin(), a.dims.begin() + a.rank, b.dims.begin());
}

Status Validator::same(BufferView Contribution::*buffer,
                       const char *name) const {
  for (size_t worker = 1; worker < parts.size(); ++worker)
    if (!sameShape(parts[worker].*buffer, parts[0].*buffer))
      return differ(worker, name, (parts[worker].*buffer).shapeString(),
                    (parts[0].*buffer).shapeString());
  return Status::success();
}

/// `part` of the workers, side by side along the dimension, make up `whole`.
Status Validator::partsOfDim(BufferView Contribution::*part,
                             BufferView Contribution::*whole,
                             const char *partName,
                             const char *wholeName) const {
  int dim = parts[0].options->dim;
  if (Status status = same(whole, wholeName); !status.ok())
    return status;
  BufferView expected = parts[0].*whole;
  if (dim < 0 || dim >= expected.rank)
    return fail("dimension " + std::to_string(dim) + " of a buffer of rank " +
                std::to_string(expected.rank));
  int64_t extent = 0;
  for (size_t worker = 0; worker < parts.size(); ++worker) {
    BufferView got = parts[worker].*part;
    extent += got.rank > dim ? got.dims[dim] : 0;
    expected.dims[dim] = got.rank > dim ? got.dims[dim] : 0;
    if (!sameShape(got, expected))
      return fail("worker " + std::to_string(worker) + " has " + partName +
                  " " + got.shapeString() + ", no part along dimension " +
                  std::to_string(dim) + " of the " + wholeName + " " +
                  (parts[0].*whole).shapeString());
  }
  if (extent != (parts[0].*whole).dims[dim]) {
    std::string list;
    for (const Contribution &contribution : parts)
      list += (list.empty() ? "" : "+") +
              std::to_string((contribution.*part).dims[dim]);
    return fail("the workers' parts " + list + " do not add up to extent " +
                std::to_string((parts[0].*whole).dims[dim]) + " of the " +
                wholeName);
  }
  return Status::success();
}

Status Validator::sameProgram() {
  const CollectiveOptions &first = *parts[0].options;
  for (size_t worker = 1; worker < parts.size(); ++worker) {
    const CollectiveOptions &other = *parts[worker].options;
    if (other.op != first.op)
      return differ(worker, "the collective", toString(other.op),
                    toString(first.op));
    if (other.node != first.node)
      return differ(worker, "node", other.node, first.node);
    if (other.type != first.type)
      return differ(worker, "element type", toString(other.type),
                    toString(first.type));
    if (other.reduction != first.reduction)
      return differ(worker, "reduction", toString(other.reduction),
                    toString(first.reduction));
    if (other.dim != first.dim)
      return differ(worker, "dimension", std::to_string(other.dim),
                    std::to_string(first.dim));
    bool rooted =
        first.op == CollectiveOp::broadcast || first.op == CollectiveOp::reduce;
    if (rooted && parts[worker].root != parts[0].root)
      return differ(worker, "root", std::to_string(parts[worker].root),
                    std::to_string(parts[0].root));
  }
  return Status::success();
}

Status Validator::shapes() {
  int64_t workers = parts.size();
  int64_t root = parts[0].root;
  CollectiveOp op = parts[0].options->op;
  if ((op == CollectiveOp::broadcast || op == CollectiveOp::reduce) &&
      (root < 0 || root >= workers))
    return fail("root " + std::to_string(root) + " is no worker of " +
                std::to_string(workers));
  switch (op) {
  case CollectiveOp::allGather:
    return partsOfDim(&Contribution::src, &Contribution::dst, "source",
                      "destination");
  case CollectiveOp::reduceScatter:
    return partsOfDim(&Contribution::dst, &Contribution::src, "destination",
                      "source");
  case CollectiveOp::broadcast:
    if (Status status = same(&Contribution::dst, "destination"); !status.ok())
      return status;
    if (!sameShape(parts[root].src, parts[root].dst))
      return fail("the root, worker " + std::to_string(root) + ", sends " +
                  parts[root].src.shapeString() + " but the destination is " +
                  parts[root].dst.shapeString());
    return Status::success();
  case CollectiveOp::reduce:
    if (Status status = same(&Contribution::src, "source"); !status.ok())
      return status;
    if (!sameShape(parts[root].src, parts[root].dst))
      return fail("the root, worker " + std::to_string(root) + ", sums " +
                  parts[root].src.shapeString() + " into " +
                  parts[root].dst.shapeString());
    return Status::success();
  case CollectiveOp::allReduce:
    if (Status status = same(&Contribution::src, "source"); !status.ok())
      return status;
    for (int64_t worker = 0; worker < workers; ++worker)
      if (!sameShape(parts[worker].dst, parts[0].src))
        return fail("worker " + std::to_string(worker) + " sums " +
                    parts[0].src.shapeString() + " into " +
                    parts[worker].dst.shapeString());
    return Status::success();
  case CollectiveOp::allGatherInPlace:
    if (Status status = same(&Contribution::dst, "buffer"); !status.ok())
      return status;
    if (parts[0].dst.elements() % workers != 0)
      return fail("the buffer " + parts[0].dst.shapeString() +
                  " has no equal parts for " + std::to_string(workers) +
                  " workers");
    return Status::success();
  }
  return Status::success();
}

Status Validator::run() {
  if (Status status = sameProgram(); !status.ok())
    return status;
  return shapes();
}

} // namespace

Status hpcc::runtime::local::validate(std::span<const Contribution> parts) {
  return Validator(parts).run();
}
