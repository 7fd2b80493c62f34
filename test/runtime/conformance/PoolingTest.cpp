// SPDX-License-Identifier: Apache-2.0
// Pooling kernels against loops in double: ties, pads that hang over the end,
// dilations, one to three dimensions, blocked layouts.
#include "runtime/cpu/CpuDevice.h"
#include "test/runtime/conformance/KernelHarness.h"
#include <limits>

using namespace hpcc::runtime;
using namespace hpcc::runtime::test;

namespace {

struct PoolCase {
  const char *name;
  int64_t n, c;
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
  Shape with(const Shape &rest) const {
    Shape result{n, c};
    result.insert(result.end(), rest.begin(), rest.end());
    return result;
  }
  std::string json() const {
    Shape pads = padBegin;
    pads.insert(pads.end(), padEnd.begin(), padEnd.end());
    return "\"kernel\":" + list(kernel) + ",\"strides\":" + list(strides) +
           ",\"dilations\":" + list(dilations) + ",\"pads\":" + list(pads);
  }
};

void PrintTo(const PoolCase &test, std::ostream *out) { *out << test.name; }

const PoolCase kCases[] = {
    {"lenet", 2, 6, {8, 8}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
    {"overlap", 2, 3, {7, 9}, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
    {"padded", 2, 3, {7, 6}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    // Ceil-mode shapes: the end pads exceed what the file says.
    {"ceil", 1, 4, {6, 7}, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 0}},
    {"ceilB68", 1, 1, {11, 11}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {1, 1}},
    {"ceilWide", 1, 2, {5, 5}, {3, 3}, {3, 3}, {1, 1}, {0, 0}, {1, 1}},
    {"remainder", 1, 2, {8, 8}, {3, 3}, {3, 3}, {1, 1}, {0, 0}, {0, 0}},
    {"dilated", 1, 3, {9, 8}, {3, 2}, {1, 2}, {2, 3}, {1, 1}, {1, 0}},
    {"asymmetric", 1, 3, {5, 5}, {3, 2}, {1, 1}, {1, 1}, {2, 0}, {0, 1}},
    {"global", 3, 5, {4, 6}, {4, 6}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"one", 1, 1, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"large", 1, 2, {20, 20}, {17, 16}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"blocked", 2, 32, {7, 7}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {"blockedCeil", 2, 16, {6, 6}, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1}},
    {"line", 2, 3, {10}, {3}, {2}, {1}, {1}, {0}},
    {"volume",
     1,
     2,
     {4, 5, 4},
     {2, 2, 3},
     {2, 2, 1},
     {1, 1, 1},
     {0, 0, 1},
     {0, 1, 1}},
};

/// visit(image*channel, output place, tap, pixel or -1 in the padding).
template <typename Visit> void forEachTap(const PoolCase &pool, Visit visit) {
  Shape out = pool.outputImage();
  int64_t outs = elementsOf(out), taps = elementsOf(pool.kernel);
  for (int64_t plane = 0; plane < pool.n * pool.c; ++plane)
    for (int64_t place = 0; place < outs; ++place)
      for (int64_t tap = 0; tap < taps; ++tap) {
        int64_t pixel = 0, stride = 1, restPlace = place, restTap = tap;
        bool inside = true;
        for (size_t d = out.size(); d-- > 0;) {
          int64_t at = restPlace % out[d] * pool.strides[d] - pool.padBegin[d] +
                       restTap % pool.kernel[d] * pool.dilations[d];
          inside = inside && at >= 0 && at < pool.image[d];
          pixel += at * stride;
          stride *= pool.image[d];
          restPlace /= out[d];
          restTap /= pool.kernel[d];
        }
        visit(plane, place, tap, inside ? pixel : -1);
      }
}

class Pooling
    : public testing::TestWithParam<std::tuple<std::string, PoolCase>> {
protected:
  Pooling()
      : runner(std::get<0>(GetParam())), pool(std::get<1>(GetParam())),
        pixels(elementsOf(pool.image)), outs(elementsOf(pool.outputImage())),
        x(randomTensor(pool.with(pool.image), 1)),
        dy(randomTensor(pool.with(pool.outputImage()), 2)) {
    // Many ties, zeros as after a ReLU.
    for (size_t i = 0; i < x.data.size(); ++i)
      x.data[i] = std::max(0.0f, float(int(x.data[i] * 3)));
  }

  struct MaxResult {
    Exact y, dx;
    std::vector<int64_t> index;
  };
  MaxResult expectedMax() const {
    MaxResult result{Exact(dy.shape, -std::numeric_limits<double>::max()),
                     Exact(x.shape), std::vector<int64_t>(dy.data.size())};
    std::vector<int64_t> winner(dy.data.size(), -1);
    forEachTap(
        pool, [&](int64_t plane, int64_t place, int64_t tap, int64_t pixel) {
          int64_t out = plane * outs + place;
          if (pixel < 0 || x.data[plane * pixels + pixel] <= result.y.data[out])
            return;
          result.y.data[out] = x.data[plane * pixels + pixel];
          result.index[out] = tap;
          winner[out] = plane * pixels + pixel;
        });
    for (size_t i = 0; i < winner.size(); ++i)
      result.dx.data[winner[i]] += dy.data[i];
    return result;
  }
  std::pair<Exact, Exact> expectedAverage(bool includePad) const {
    Exact y(dy.shape), dx(x.shape);
    std::vector<double> count(dy.data.size());
    forEachTap(pool, [&](int64_t plane, int64_t place, int64_t, int64_t pixel) {
      count[plane * outs + place] += pixel >= 0 || includePad;
    });
    forEachTap(pool, [&](int64_t plane, int64_t place, int64_t, int64_t pixel) {
      if (pixel < 0)
        return;
      int64_t out = plane * outs + place;
      y.data[out] += x.data[plane * pixels + pixel] / count[out];
      dx.data[plane * pixels + pixel] += dy.data[out] / count[out];
    });
    return {y, dx};
  }
  template <typename Index> void checkMax() {
    Tensor y(dy.shape, 99), dx(x.shape, 99);
    BasicTensor<Index> index(dy.shape);
    runner.run("max_pool_forward", pool.json(), {x, y, index});
    runner.run("max_pool_backward", pool.json(), {dy, index, dx});
    MaxResult expected = expectedMax();
    expectClose(y, expected.y, 0);
    EXPECT_EQ(std::vector<int64_t>(index.data.begin(), index.data.end()),
              expected.index);
    expectClose(dx, expected.dx, 1e-6);
  }

  KernelRunner runner;
  const PoolCase pool;
  const int64_t pixels, outs;
  Tensor x, dy;
};

INSTANTIATE_TEST_SUITE_P(, Pooling,
                         testing::Combine(testing::ValuesIn(deviceKinds()),
                                          testing::ValuesIn(kCases)),
                         [](const auto &info) {
                           return std::get<0>(info.param) + "_" +
                                  std::get<1>(info.param).name;
                         });

} // namespace

TEST_P(Pooling, MaxFirstOfTiesWins) {
  if (cpu::maxPoolIndexType(pool.kernel) == DataType::i8)
    checkMax<uint8_t>();
  else
    checkMax<int32_t>();
}

TEST_P(Pooling, Average) {
  for (bool includePad : {false, true}) {
    std::string json =
        pool.json() + ",\"count_include_pad\":" + (includePad ? "1" : "false");
    Tensor y(dy.shape, 99), dx(x.shape, 99);
    runner.run("avg_pool_forward", json, {x, y});
    runner.run("avg_pool_backward", json, {dy, dx});
    auto [expectedY, expectedDx] = expectedAverage(includePad);
    expectClose(y, expectedY, 1e-6);
    expectClose(dx, expectedDx, 1e-6);
    if (x.data.size() < 300)
      expectIsGradient(
          dx, x, dy,
          [&](const Tensor &at) {
            Tensor moved = at, out(dy.shape);
            runner.run("avg_pool_forward", json, {moved, out});
            return out;
          },
          0.5, 1e-5);
  }
}

TEST_P(Pooling, BlockedLayout) {
  if (pool.c % 16 != 0)
    return;
  auto blocked = [&](Tensor plain) {
    Tensor result({plain.shape[0], plain.shape[1] / 16, plain.shape[2],
                   plain.shape[3], 16});
    runner.run("reorder", R"("from":"nchw","to":"nChw16c")", {plain, result});
    return result;
  };
  std::string layouts =
      pool.json() + R"(,"layouts":["nChw16c","nChw16c","nChw16c"])";
  Tensor xb = blocked(x), dyb = blocked(dy);
  Tensor yb(dyb.shape), dxb(xb.shape, 99);
  BasicTensor<uint8_t> index(dyb.shape);
  MaxResult expected = expectedMax();
  auto blockedExact = [&](const Exact &plain) {
    return toExact(
        blocked(Tensor(plain.shape, std::vector<float>(plain.data.begin(),
                                                       plain.data.end()))));
  };
  runner.run("max_pool_forward", layouts, {xb, yb, index});
  expectClose(yb, blockedExact(expected.y), 0);
  runner.run("max_pool_backward", layouts, {dyb, index, dxb});
  expectClose(dxb, blockedExact(expected.dx), 1e-6);
  std::string average = pool.json() + R"(,"layouts":["nChw16c","nChw16c"])";
  auto [expectedY, expectedDx] = expectedAverage(false);
  runner.run("avg_pool_forward", average, {xb, yb});
  expectClose(yb, blockedExact(expectedY), 1e-6);
  runner.run("avg_pool_backward", average, {dyb, dxb});
  expectClose(dxb, blockedExact(expectedDx), 1e-6);
}

TEST_P(Pooling, NoExamples) {
  PoolCase empty = pool;
  empty.n = 0;
  Tensor x0(empty.with(pool.image)), y0(empty.with(pool.outputImage()));
  BasicTensor<uint8_t> index(y0.shape);
  runner.run("max_pool_forward", pool.json(), {x0, y0, index});
  runner.run("max_pool_backward", pool.json(), {y0, index, x0});
  runner.run("avg_pool_forward", pool.json(), {x0, y0});
  runner.run("avg_pool_backward", pool.json(), {y0, x0});
}

namespace {
class PoolingReports : public KernelTest {};
HPCC_INSTANTIATE_KERNEL_TESTS(PoolingReports);
} // namespace

// B91: one winner, the first in scan order; the gradient uses its index.
TEST_P(PoolingReports, TieGoesToTheFirstB91) {
  Tensor x({1, 1, 2, 2}, {1, 2, 2, 2}), y({1, 1, 1, 1}), dy({1, 1, 1, 1}, 1);
  Tensor dx({1, 1, 2, 2}, 9);
  BasicTensor<uint8_t> index({1, 1, 1, 1});
  runner.run("max_pool_forward", R"("kernel":[2,2])", {x, y, index});
  EXPECT_EQ(index.data[0], 1);
  runner.run("max_pool_backward", R"("kernel":[2,2])", {dy, index, dx});
  EXPECT_EQ(dx.data, (std::vector<float>{0, 1, 0, 0}));
}

// B68: 3x3 ones, k2 s2 ceil: every average is 1.
TEST_P(PoolingReports, CeilModeAverageDividesByRealElementsB68) {
  Tensor x({1, 1, 3, 3}, 1), y({1, 1, 2, 2});
  runner.run("avg_pool_forward",
             R"("kernel":[2,2],"strides":[2,2],"pads":[0,0,1,1])", {x, y});
  EXPECT_EQ(y.data, std::vector<float>(4, 1));
}

// B21: the only window that holds elements gives 1, with either op.
TEST_P(PoolingReports, PaddedWindowsHoldRealElementsOnlyB21) {
  std::string json = R"("kernel":[3,3],"strides":[3,3],"pads":[1,1,1,1])";
  Tensor x({1, 1, 2, 2}, 1), y({1, 1, 1, 1}), z({1, 1, 1, 1});
  BasicTensor<uint8_t> index({1, 1, 1, 1});
  runner.run("avg_pool_forward", json, {x, y});
  EXPECT_EQ(y.data[0], 1);
  runner.run("max_pool_forward", json, {x, z, index});
  EXPECT_EQ(z.data[0], 1);
}

TEST_P(PoolingReports, AWindowWithoutElementsIsAnErrorB21) {
  Tensor x({1, 1, 2, 2}, 1), y({1, 1, 2, 2});
  Status status = runner.tryRun(
      "avg_pool_forward", R"("kernel":[3,3],"strides":[3,3],"pads":[1,1,3,3])",
      {x, y});
  EXPECT_NE(status.message().find("lies in the padding"), std::string::npos)
      << status.message();
}

TEST_P(PoolingReports, NegativeValuesBeatThePadding) {
  Tensor x({1, 1, 2, 2}, {-5, -6, -7, -8}), y({1, 1, 2, 2});
  BasicTensor<uint8_t> index({1, 1, 2, 2});
  runner.run("max_pool_forward",
             R"("kernel":[2,2],"strides":[2,2],"pads":[1,1,1,1])",
             {x, y, index});
  EXPECT_EQ(y.data, (std::vector<float>{-5, -6, -7, -8}));
  EXPECT_EQ(index.data, (std::vector<uint8_t>{3, 2, 1, 0}));
}
