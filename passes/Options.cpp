// SPDX-License-Identifier: Apache-2.0
// Reading and writing `nn.options`.
#include "passes/Options.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace hpcc;

namespace {
constexpr llvm::StringLiteral kOptions = "nn.options";

/// Reads the keys of a dictionary and remembers the first wrong one.
class Reader {
public:
  Reader(ModuleOp module, DictionaryAttr dict) : module(module), dict(dict) {}

  void read(StringRef key, std::string &to) {
    if (auto attr = find<StringAttr>(key, "a string"))
      to = attr.str();
  }
  void read(StringRef key, double &to) {
    if (auto attr = find<FloatAttr>(key, "a float"))
      to = attr.getValueAsDouble();
  }
  void read(StringRef key, int64_t &to) {
    if (auto attr = find<IntegerAttr>(key, "an integer"))
      to = attr.getInt();
  }
  void read(StringRef key, bool &to) {
    if (auto attr = find<BoolAttr>(key, "a bool"))
      to = attr.getValue();
  }
  void read(StringRef key, std::vector<std::string> &to) {
    auto attr = find<ArrayAttr>(key, "an array of strings");
    if (!attr)
      return;
    for (Attribute element : attr) {
      if (auto string = dyn_cast<StringAttr>(element))
        to.push_back(string.str());
      else
        fail(key, "an array of strings");
    }
  }
  /// Pairs [first, second].
  template <typename Second, typename Fn>
  void readPairs(StringRef key, Fn append) {
    auto attr = find<ArrayAttr>(key, "an array of pairs");
    if (!attr)
      return;
    for (Attribute element : attr) {
      auto pair = dyn_cast<ArrayAttr>(element);
      if (pair && pair.size() == 2 && isa<StringAttr>(pair[0]) &&
          isa<Second>(pair[1]))
        append(cast<StringAttr>(pair[0]).str(), cast<Second>(pair[1]));
      else
        fail(key, "an array of pairs");
    }
  }
  bool failed() const { return bad; }
  void fail(StringRef key, StringRef expected) {
    if (!bad)
      module.emitError() << "nn.options: `" << key << "` must be " << expected;
    bad = true;
  }

private:
  template <typename Attr> Attr find(StringRef key, StringRef expected) {
    Attribute attr = dict ? dict.get(key) : Attribute();
    if (!attr)
      return {};
    auto typed = dyn_cast<Attr>(attr);
    if (!typed)
      fail(key, expected);
    return typed;
  }
  ModuleOp module;
  DictionaryAttr dict;
  bool bad = false;
};
} // namespace

FailureOr<Options> Options::get(ModuleOp module) {
  Options options;
  Reader reader(module, module->getAttrOfType<DictionaryAttr>(kOptions));
  reader.read("loss", options.loss);
  reader.readPairs<FloatAttr>(
      "loss_outputs", [&](std::string name, FloatAttr w) {
        options.lossOutputs.push_back({std::move(name), w.getValueAsDouble()});
      });
  reader.read("momentum", options.momentum);
  reader.read("momentum_form", options.momentumForm);
  reader.read("nesterov", options.nesterov);
  reader.read("weight_decay", options.weightDecay);
  reader.read("no_decay", options.noDecay);
  reader.read("lr_scaling", options.lrScaling);
  reader.read("base_batch", options.baseBatch);
  std::string scheme = "data";
  reader.read("scheme", scheme);
  auto choice = llvm::StringSwitch<std::optional<SchemeChoice>>(scheme)
                    .Case("a", SchemeChoice::A)
                    .Case("b", SchemeChoice::B)
                    .Case("c", SchemeChoice::C)
                    .Case("data", SchemeChoice::Data)
                    .Default(std::nullopt);
  if (!choice)
    reader.fail("scheme", "one of a, b, c, data");
  else
    options.scheme = *choice;
  reader.read("workers", options.workers);
  reader.read("batch", options.batch);
  reader.read("fc_batch", options.fcBatch);
  reader.read("fc_update", options.fcUpdate);
  reader.readPairs<StringAttr>(
      "place", [&](std::string pattern, StringAttr to) {
        options.place.push_back({std::move(pattern), to.str()});
      });
  reader.read("freeze", options.freeze);
  reader.read("bn_variance", options.bnVariance);
  reader.read("seed", options.seed);
  reader.read("labels", options.labels);
  reader.read("functions", options.functions);
  if (options.labels != "class" && options.labels != "vector")
    reader.fail("labels", "class or vector");
  if (options.workers < 1)
    reader.fail("workers", "at least 1");
  if (options.batch < options.workers)
    reader.fail("batch", "at least the number of workers");
  if (options.fcBatch < 0)
    reader.fail("fc_batch", "at least 1, or 0 for none");
  int64_t groups = 0;
  if (!options.fcUpdate.empty() && options.fcUpdate != "every" &&
      options.fcUpdate != "accumulate" &&
      (StringRef(options.fcUpdate).getAsInteger(10, groups) || groups < 1))
    reader.fail("fc_update", "every, accumulate or a positive number");
  if (reader.failed())
    return failure();
  return options;
}

void Options::set(ModuleOp module) const {
  Builder b(module.getContext());
  auto strings = [&](const std::vector<std::string> &values) {
    SmallVector<StringRef> refs(values.begin(), values.end());
    return b.getStrArrayAttr(refs);
  };
  SmallVector<Attribute> outputs, places;
  for (const LossOutput &output : lossOutputs)
    outputs.push_back(b.getArrayAttr(
        {b.getStringAttr(output.name), b.getF64FloatAttr(output.weight)}));
  for (const Placement &placement : place)
    places.push_back(b.getArrayAttr({b.getStringAttr(placement.pattern),
                                     b.getStringAttr(placement.place)}));
  NamedAttribute attrs[] = {
      b.getNamedAttr("loss", b.getStringAttr(loss)),
      b.getNamedAttr("loss_outputs", b.getArrayAttr(outputs)),
      b.getNamedAttr("momentum", b.getF64FloatAttr(momentum)),
      b.getNamedAttr("momentum_form", b.getStringAttr(momentumForm)),
      b.getNamedAttr("nesterov", b.getBoolAttr(nesterov)),
      b.getNamedAttr("weight_decay", b.getF64FloatAttr(weightDecay)),
      b.getNamedAttr("no_decay", strings(noDecay)),
      b.getNamedAttr("lr_scaling", b.getStringAttr(lrScaling)),
      b.getNamedAttr("base_batch", b.getI64IntegerAttr(baseBatch)),
      b.getNamedAttr("scheme", b.getStringAttr(schemeName())),
      b.getNamedAttr("workers", b.getI64IntegerAttr(workers)),
      b.getNamedAttr("batch", b.getI64IntegerAttr(batch)),
      b.getNamedAttr("fc_batch", b.getI64IntegerAttr(fcBatch)),
      b.getNamedAttr("fc_update", b.getStringAttr(fcUpdate)),
      b.getNamedAttr("place", b.getArrayAttr(places)),
      b.getNamedAttr("freeze", strings(freeze)),
      b.getNamedAttr("bn_variance", b.getStringAttr(bnVariance)),
      b.getNamedAttr("seed", b.getI64IntegerAttr(seed)),
      b.getNamedAttr("labels", b.getStringAttr(labels)),
      b.getNamedAttr("functions", strings(functions)),
  };
  module->setAttr(kOptions, b.getDictionaryAttr(attrs));
}

StringRef Options::schemeName() const {
  switch (scheme) {
  case SchemeChoice::A:
    return "a";
  case SchemeChoice::B:
    return "b";
  case SchemeChoice::C:
    return "c";
  case SchemeChoice::Data:
    return "data";
  }
  llvm_unreachable("unknown scheme");
}

sharding::PassPlan Options::passPlan() const {
  sharding::PassPlan plan{sharding::Scheme::a, workers, batch, fcBatch};
  if (scheme == SchemeChoice::B)
    plan.scheme = sharding::Scheme::b;
  else if (scheme == SchemeChoice::C)
    plan.scheme = sharding::Scheme::c;
  return plan;
}

int64_t Options::passes() const {
  return scheme == SchemeChoice::Data ? 1 : sharding::passCount(passPlan());
}

int64_t Options::passesPerUpdate() const {
  if (fcUpdate == "accumulate" ||
      (fcUpdate.empty() && scheme == SchemeChoice::A))
    return passes();
  int64_t group = 1;
  if (!fcUpdate.empty() && fcUpdate != "every")
    StringRef(fcUpdate).getAsInteger(10, group);
  return std::min(group, passes());
}
