// SPDX-License-Identifier: Apache-2.0
// Convolution kernels against loops in double: groups, dilations, strides, odd
// and unequal pads, sizes 1, one to three spatial dimensions, blocked layouts.
#include "test/runtime/conformance/KernelHarness.h"

using namespace hpcc::runtime;
using namespace hpcc::runtime::test;

namespace {

struct ConvCase {
  const char *name;
  int64_t n, c, o, group;
  Shape image, kernel, strides, dilations, padBegin, padEnd;

  Shape outputImage() const {
    Shape result;
    for (size_t i = 0; i < image.size(); ++i)
      result.push_back((image[i] + padBegin[i] + padEnd[i] -
                        ((kernel[i] - 1) * dilations[i] + 1)) /
                           strides[i] +
                       1);
    return result;
  }
  Shape shape(int64_t first, int64_t second, const Shape &rest) const {
    Shape result{first, second};
    result.insert(result.end(), rest.begin(), rest.end());
    return result;
  }
  Shape x() const { return shape(n, c, image); }
  Shape w() const { return shape(o, c / group, kernel); }
  Shape y() const { return shape(n, o, outputImage()); }
  std::string json() const {
    Shape pads = padBegin;
    pads.insert(pads.end(), padEnd.begin(), padEnd.end());
    return "\"strides\":" + list(strides) +
           ",\"dilations\":" + list(dilations) + ",\"pads\":" + list(pads) +
           ",\"group\":" + std::to_string(group);
  }
};

void PrintTo(const ConvCase &test, std::ostream *out) { *out << test.name; }

const ConvCase kCases[] = {
    {"plain3x3", 2, 3, 5, 1, {7, 6}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"lenet", 3, 1, 6, 1, {28, 28}, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}},
    {"strided", 2, 4, 3, 1, {9, 8}, {3, 2}, {2, 3}, {1, 1}, {1, 0}, {1, 0}},
    {"asymmetric", 1, 2, 2, 1, {5, 5}, {3, 3}, {2, 2}, {1, 1}, {0, 1}, {2, 0}},
    {"dilated", 2, 3, 4, 1, {9, 9}, {3, 3}, {1, 1}, {2, 3}, {2, 1}, {2, 1}},
    {"grouped", 2, 6, 4, 2, {5, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"depthwise", 2, 5, 5, 5, {6, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"depthwise16",
     1,
     16,
     16,
     16,
     {6, 5},
     {3, 3},
     {2, 2},
     {1, 1},
     {1, 1},
     {1, 1}},
    {"grouped16", 1, 32, 32, 2, {4, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"multiplier", 1, 3, 6, 3, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
    {"pointwise", 2, 16, 32, 1, {5, 5}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"pointwise2", 2, 16, 8, 1, {5, 5}, {1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
    {"wholeMap", 2, 8, 10, 1, {4, 4}, {4, 4}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"one", 1, 1, 1, 1, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"onePadded", 1, 1, 1, 1, {1, 1}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"alexnet1",
     1,
     3,
     16,
     1,
     {23, 23},
     {11, 11},
     {4, 4},
     {1, 1},
     {2, 2},
     {2, 2}},
    {"blocked", 2, 16, 32, 1, {6, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"odd17", 2, 17, 19, 1, {5, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"line", 2, 3, 4, 1, {11}, {3}, {2}, {2}, {1}, {2}},
    {"volume",
     1,
     2,
     3,
     1,
     {4, 5, 3},
     {2, 3, 2},
     {1, 2, 1},
     {1, 1, 1},
     {1, 0, 0},
     {0, 1, 1}},
};

/// Calls visit(x index, w index, y index) for every product of the sum.
template <typename Visit>
void forEachProduct(const ConvCase &conv, Visit visit) {
  size_t spatial = conv.image.size();
  Shape out = conv.outputImage();
  int64_t outs = elementsOf(out), taps = elementsOf(conv.kernel);
  int64_t pixels = elementsOf(conv.image);
  int64_t perGroup = conv.c / conv.group, outsPerGroup = conv.o / conv.group;
  for (int64_t n = 0; n < conv.n; ++n)
    for (int64_t o = 0; o < conv.o; ++o)
      for (int64_t place = 0; place < outs; ++place)
        for (int64_t c = 0; c < perGroup; ++c)
          for (int64_t tap = 0; tap < taps; ++tap) {
            int64_t pixel = 0;
            bool inside = true;
            int64_t restPlace = place, restTap = tap, stride = 1;
            for (size_t d = spatial; d-- > 0;) {
              int64_t at = restPlace % out[d] * conv.strides[d] -
                           conv.padBegin[d] +
                           restTap % conv.kernel[d] * conv.dilations[d];
              inside = inside && at >= 0 && at < conv.image[d];
              pixel += at * stride;
              stride *= conv.image[d];
              restPlace /= out[d];
              restTap /= conv.kernel[d];
            }
            if (!inside)
              continue;
            int64_t channel = o / outsPerGroup * perGroup + c;
            visit((n * conv.c + channel) * pixels + pixel,
                  (o * perGroup + c) * taps + tap,
                  (n * conv.o + o) * outs + place);
          }
}

class Convolution
    : public testing::TestWithParam<std::tuple<std::string, ConvCase>> {
protected:
  Convolution()
      : runner(std::get<0>(GetParam())), conv(std::get<1>(GetParam())),
        x(randomTensor(conv.x(), 1)), w(randomTensor(conv.w(), 2)),
        b(randomTensor({conv.o}, 3)), dy(randomTensor(conv.y(), 4)) {}

  int64_t outputSize() const { return elementsOf(conv.outputImage()); }
  Exact expectedForward(bool bias) const {
    Exact y(conv.y());
    forEachProduct(conv, [&](int64_t xi, int64_t wi, int64_t yi) {
      y.data[yi] += double(x.data[xi]) * w.data[wi];
    });
    if (bias)
      for (size_t i = 0; i < y.data.size(); ++i)
        y.data[i] += b.data[i / outputSize() % conv.o];
    return y;
  }
  Exact expectedBackwardData() const {
    Exact dx(conv.x());
    forEachProduct(conv, [&](int64_t xi, int64_t wi, int64_t yi) {
      dx.data[xi] += double(dy.data[yi]) * w.data[wi];
    });
    return dx;
  }
  Exact expectedBackwardWeights() const {
    Exact dw(conv.w());
    forEachProduct(conv, [&](int64_t xi, int64_t wi, int64_t yi) {
      dw.data[wi] += double(x.data[xi]) * dy.data[yi];
    });
    return dw;
  }
  Exact expectedBackwardBias() const {
    Exact db({conv.o});
    for (size_t i = 0; i < dy.data.size(); ++i)
      db.data[i / outputSize() % conv.o] += dy.data[i];
    return db;
  }

  KernelRunner runner;
  const ConvCase conv;
  Tensor x, w, b, dy;
};

std::string
caseName(const testing::TestParamInfo<Convolution::ParamType> &info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
}
INSTANTIATE_TEST_SUITE_P(, Convolution,
                         testing::Combine(testing::ValuesIn(deviceKinds()),
                                          testing::ValuesIn(kCases)),
                         caseName);

constexpr double kTolerance = 2e-6;

} // namespace

TEST_P(Convolution, Forward) {
  Tensor y(conv.y(), 99);
  runner.run("conv_forward", conv.json(), {x, w, y});
  expectClose(y, expectedForward(false), kTolerance);
  Tensor withBias(conv.y(), 99);
  runner.run("conv_forward", conv.json(), {x, w, b, withBias});
  expectClose(withBias, expectedForward(true), kTolerance);
}

TEST_P(Convolution, BackwardData) {
  Tensor dx(conv.x(), 99);
  runner.run("conv_backward_data", conv.json(), {dy, w, dx});
  expectClose(dx, expectedBackwardData(), kTolerance);
}

TEST_P(Convolution, BackwardWeights) {
  Tensor dw(conv.w(), 99), db({conv.o}, 99), alone(conv.w(), 99);
  runner.run("conv_backward_weights", conv.json(), {x, dy, dw, db});
  expectClose(dw, expectedBackwardWeights(), kTolerance);
  expectClose(db, expectedBackwardBias(), kTolerance);
  runner.run("conv_backward_weights", conv.json(), {x, dy, alone});
  expectClose(alone, expectedBackwardWeights(), kTolerance);
}

TEST_P(Convolution, BackwardWeightsAccumulates) {
  Tensor dw(conv.w(), 3), db({conv.o}, -2);
  runner.run("conv_backward_weights", conv.json() + ",\"accumulate\":true",
             {x, dy, dw, db});
  Exact weights = expectedBackwardWeights(), bias = expectedBackwardBias();
  for (double &value : weights.data)
    value += 3;
  for (double &value : bias.data)
    value -= 2;
  expectClose(dw, weights, kTolerance);
  expectClose(db, bias, kTolerance);
}

TEST_P(Convolution, GradientsAgreeWithCentralDifferences) {
  Tensor dx(conv.x()), dw(conv.w()), db({conv.o});
  runner.run("conv_backward_data", conv.json(), {dy, w, dx});
  runner.run("conv_backward_weights", conv.json(), {x, dy, dw, db});
  auto forward = [&](Tensor x, Tensor w, Tensor b) {
    Tensor y(conv.y());
    runner.run("conv_forward", conv.json(), {x, w, b, y});
    return y;
  };
  // Linear in each operand: a large step has no truncation error.
  expectIsGradient(
      dx, x, dy, [&](const Tensor &at) { return forward(at, w, b); }, 0.5,
      1e-5);
  expectIsGradient(
      dw, w, dy, [&](const Tensor &at) { return forward(x, at, b); }, 0.5,
      1e-5);
  expectIsGradient(
      db, b, dy, [&](const Tensor &at) { return forward(x, w, at); }, 0.5,
      1e-5);
}

TEST_P(Convolution, NoExamples) {
  ConvCase empty = conv;
  empty.n = 0;
  Tensor x0(empty.x()), y0(empty.y()), dw(conv.w(), 9), db({conv.o}, 9);
  runner.run("conv_forward", conv.json(), {x0, w, b, y0});
  runner.run("conv_backward_data", conv.json(), {y0, w, x0});
  runner.run("conv_backward_weights", conv.json(), {x0, y0, dw, db});
  EXPECT_EQ(dw.data, std::vector<float>(dw.data.size(), 0));
  EXPECT_EQ(db.data, std::vector<float>(db.data.size(), 0));
  Tensor kept(conv.w(), 9);
  runner.run("conv_backward_weights", conv.json() + ",\"accumulate\":true",
             {x0, y0, kept});
  EXPECT_EQ(kept.data, std::vector<float>(kept.data.size(), 9));
}

TEST_P(Convolution, BlockedLayouts) {
  if (conv.image.size() != 2)
    return;
  auto layoutOf = [](int64_t channels) {
    return std::string(channels % 16 == 0 ? "nChw16c" : "nchw");
  };
  auto blocked = [&](Tensor plain) {
    if (plain.shape[1] % 16 != 0)
      return plain;
    Tensor result({plain.shape[0], plain.shape[1] / 16, plain.shape[2],
                   plain.shape[3], 16});
    runner.run("reorder", R"("from":"nchw","to":"nChw16c")", {plain, result});
    return result;
  };
  std::string xl = "\"" + layoutOf(conv.c) + "\"";
  std::string yl = "\"" + layoutOf(conv.o) + "\"";
  Tensor xb = blocked(x), dyb = blocked(dy), yb = blocked(Tensor(conv.y()));
  Tensor dxb = blocked(Tensor(conv.x())), dw(conv.w(), 99), db({conv.o}, 99);
  runner.run("conv_forward",
             conv.json() + ",\"layouts\":[" + xl + ",\"\",\"\"," + yl + "]",
             {xb, w, b, yb});
  Exact expected = expectedForward(true);
  expectClose(yb,
              toExact(blocked(
                  Tensor(conv.y(), std::vector<float>(expected.data.begin(),
                                                      expected.data.end())))),
              kTolerance);
  runner.run("conv_backward_data",
             conv.json() + ",\"layouts\":[" + yl + ",\"\"," + xl + "]",
             {dyb, w, dxb});
  expected = expectedBackwardData();
  expectClose(dxb,
              toExact(blocked(
                  Tensor(conv.x(), std::vector<float>(expected.data.begin(),
                                                      expected.data.end())))),
              kTolerance);
  runner.run("conv_backward_weights",
             conv.json() + ",\"layouts\":[" + xl + "," + yl + ",\"\",\"\"]",
             {xb, dyb, dw, db});
  expectClose(dw, expectedBackwardWeights(), kTolerance);
}

// B16: begin and end pads differ; 4x4 ones, 3x3 ones, stride 2.
TEST(ConvolutionReports, UnequalPadsB16) {
  for (const std::string &device : deviceKinds()) {
    KernelRunner runner(device);
    Tensor x({1, 1, 4, 4}, 1), w({1, 1, 3, 3}, 1), y({1, 1, 2, 2});
    runner.run("conv_forward", R"("strides":[2,2],"pads":[0,0,1,1])",
               {x, w, y});
    EXPECT_EQ(y.data, (std::vector<float>{9, 6, 6, 4}));
  }
}

TEST(ConvolutionErrors, NameTheNodeAndTheShapes) {
  for (const std::string &device : deviceKinds()) {
    KernelRunner runner(device);
    Tensor x({1, 2, 4, 4}), w({1, 3, 3, 3}), y({1, 1, 2, 2});
    Status status = runner.tryRun("conv_forward", "", {x, w, y});
    ASSERT_FALSE(status.ok());
    for (const char *part : {"node0", "conv_forward", "[1,3,3,3]"})
      EXPECT_NE(status.message().find(part), std::string::npos)
          << status.message();
  }
}
