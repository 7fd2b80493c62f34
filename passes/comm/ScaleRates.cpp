// SPDX-License-Identifier: Apache-2.0
// Learning rates by the nominal number of examples behind an update.
#include "passes/Options.h"
#include "passes/Passes.h"

#include <cmath>

using namespace mlir;
using namespace hpcc;

namespace hpcc {
#define GEN_PASS_DEF_HPCCCOMMSCALERATES
#include "passes/Passes.h.inc"
} // namespace hpcc

namespace {
double factorFor(double examples, const Options &options) {
  double ratio = examples / double(options.baseBatch);
  if (options.lrScaling == "linear")
    return ratio;
  return options.lrScaling == "sqrt" ? std::sqrt(ratio) : 1.0;
}

struct ScaleRates : hpcc::impl::HpccCommScaleRatesBase<ScaleRates> {
  void runOnOperation() override {
    FailureOr<Options> options = Options::get(getOperation());
    if (failed(options))
      return signalPassFailure();
    double trunk = factorFor(double(options->batch), *options);
    double head =
        factorFor(double(options->batch) * double(options->passesPerUpdate()) /
                      double(options->passes()),
                  *options);
    Builder builder(&getContext());
    getOperation().walk([&](OptimizerOpInterface op) {
      bool inHead = op->getParentOfType<nn::HeadOp>() != nullptr;
      double mult = op.getLrMultAttr().getValueAsDouble();
      op.setLrMultAttr(builder.getF64FloatAttr(mult * (inHead ? head : trunk)));
    });
  }
};
} // namespace
