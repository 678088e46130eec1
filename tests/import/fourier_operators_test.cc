// SPDX-License-Identifier: BSD-3-Clause
//
// DFT against the sums that define it, over complex numbers as pairs.
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/operator_fixture.h"

namespace hesscope {
namespace {

using onnx::text;
using test::expect_computes;
using test::expect_refused;
using test::OperatorFixture;

// sum_t x_t exp(sign 2 pi i k t / n) for k < count, of pairs, or of real numbers.
template <typename T, typename X>
std::vector<T> sums(const X& x, int length, int parts, int n, int count, int sign) {
  std::vector<T> y;
  for (int k = 0; k < count; ++k) {
    T real(0.0);
    T imaginary(0.0);
    for (int t = 0; t < std::min(length, n); ++t) {
      const std::complex<double> root = std::polar(1.0, sign * 2 * std::numbers::pi * k * t / n);
      const T a = T(x(parts * t));
      const T b = parts == 2 ? T(x(parts * t + 1)) : T(0.0);
      real += T(root.real()) * a - T(root.imag()) * b;
      imaginary += T(root.imag()) * a + T(root.real()) * b;
    }
    y.push_back(real);
    y.push_back(imaginary);
  }
  return y;
}

std::vector<double> wave(int count) {
  std::vector<double> entries;
  for (int e = 0; e < count; ++e) entries.push_back(std::sin(0.9 * e + 0.4));
  return entries;
}

void expect_entries(OperatorFixture& op,
                    const std::string& shape,
                    const std::vector<double>& expected) {
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), shape);
  const auto got = op.graph().constant_value(*y.var);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t e = 0; e < got.size(); ++e) EXPECT_NEAR(got[e], expected[e], 2e-15) << e;
}

TEST(DFT, OfComplexAndRealNumbers) {
  for (const int parts : {1, 2}) {
    OperatorFixture op("DFT", 17);
    op.parameter({1, 5, parts});
    const onnx::Value y = op.result();
    EXPECT_EQ(text(y.axes), "(1, 5, 2)");
    expect_computes(op, y, [parts](const auto& theta, const double*) {
      using T = typename std::decay_t<decltype(theta)>::Scalar;
      return sums<T>([&](int e) { return theta(e); }, 5, parts, 5, 5, -1);
    });
  }
}

TEST(DFT, OfAnyAxisIsTheAttributeOrTheInput) {
  for (const int opset : {17, 20}) {
    OperatorFixture op("DFT", opset);
    op.data({3, 2, 2});
    if (opset == 17) {
      op.with("axis", -3);
    } else {
      op.left_out().integers({}, {1});
    }
    const onnx::Value y = op.result();
    EXPECT_EQ(text(y.axes), "(N, 3, 2, 2)");
    expect_computes(op, y, [](const auto& theta, const double* x) {
      using T = typename std::decay_t<decltype(theta)>::Scalar;
      std::vector<T> all(12);
      for (int column = 0; column < 2; ++column) {
        const auto of_column = [&](int e) { return x[(e / 2 * 2 + column) * 2 + e % 2]; };
        const std::vector<T> one = sums<T>(of_column, 3, 2, 3, 3, -1);
        for (int e = 0; e < 6; ++e) {
          all[static_cast<std::size_t>((e / 2 * 2 + column) * 2 + e % 2)] =
              one[static_cast<std::size_t>(e)];
        }
      }
      return all;
    });
  }
}

TEST(DFT, IsThatOfTheAxisBeforeTheLastFromOpset20On) {
  OperatorFixture op("DFT", 20);
  op.data({2, 3, 1});
  const onnx::Value y = op.result();
  EXPECT_EQ(text(y.axes), "(N, 2, 3, 2)");
  expect_computes(op, y, [](const auto& theta, const double* x) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    std::vector<T> all;
    for (int row = 0; row < 2; ++row) {
      const std::vector<T> one = sums<T>([&](int e) { return x[3 * row + e]; }, 3, 1, 3, 3, -1);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  });
}

TEST(DFT, PadsAndTrimsToItsLength) {
  for (const int n : {3, 7}) {
    for (const int inverse : {0, 1}) {
      OperatorFixture op("DFT", 17);
      op.with("inverse", inverse).parameter({1, 5, 2}).integers({}, {n});
      const onnx::Value y = op.result();
      EXPECT_EQ(text(y.axes), "(1, " + std::to_string(n) + ", 2)");
      expect_computes(op, y, [&](const auto& theta, const double*) {
        using T = typename std::decay_t<decltype(theta)>::Scalar;
        std::vector<T> all =
            sums<T>([&](int e) { return theta(e); }, 5, 2, n, n, inverse == 0 ? -1 : 1);
        for (T& entry : all) entry /= T(inverse == 0 ? 1.0 : static_cast<double>(n));
        return all;
      });
    }
  }
}

// The one-sided transform and its inverse give back the signal.
TEST(DFT, OfOneSideIsUndoneByItsInverse) {
  for (const int n : {1, 4, 5}) {
    OperatorFixture there("DFT", 17);
    there.with("onesided", 1).numbers({1, n, 1}, wave(n));
    const onnx::Value y = there.result();
    ASSERT_EQ(text(y.axes), "(1, " + std::to_string(n / 2 + 1) + ", 2)");
    const auto entries = there.graph().constant_value(*y.var);
    OperatorFixture back("DFT", 17);
    back.with("onesided", 1).with("inverse", 1);
    back.numbers({1, n / 2 + 1, 2}, std::vector<double>(entries.begin(), entries.end()));
    back.integers({1}, {n});
    expect_entries(back, "(1, " + std::to_string(n) + ", 1)", wave(n));
  }
}

// torch.fft.rfft(), fft(n=8), irfft(), irfft(n=7) and ifft().
TEST(DFT, AgreesWithPyTorch) {
  OperatorFixture one_sided("DFT", 17);
  one_sided.with("onesided", 1).numbers({1, 5, 1}, wave(5));
  expect_entries(one_sided,
                 "(1, 3, 2)",
                 {1.4462510986707957,
                  0,
                  -0.23441742889084494,
                  -2.086941998319408,
                  0.4848377353270733,
                  -0.28182242345929709});
  OperatorFixture padded("DFT", 17);
  padded.numbers({1, 5, 1}, wave(5)).integers({}, {8});
  expect_entries(padded,
                 "(1, 8, 2)",
                 {1.4462510986707959,
                  0,
                  1.7981573962200721,
                  -1.5192368991687004,
                  -1.1758805568188677,
                  -0.92197752298390245,
                  0.49428427901308536,
                  0.097755908470479769,
                  -0.564026597030171,
                  0,
                  0.49428427901308536,
                  -0.097755908470479769,
                  -1.1758805568188677,
                  0.92197752298390245,
                  1.7981573962200721,
                  1.5192368991687004});
  OperatorFixture real("DFT", 20);
  real.with("onesided", 1).with("inverse", 1).numbers({1, 4, 2}, wave(8));
  expect_entries(real,
                 "(1, 6, 1)",
                 {0.0047006633197029524,
                  0.67482624033287064,
                  -0.31675923444295428,
                  -0.37942954608877155,
                  0.2744666525706983,
                  0.13161356661710438});
  OperatorFixture odd("DFT", 20);
  odd.with("onesided", 1).with("inverse", 1).numbers({1, 4, 2}, wave(8)).integers({}, {7});
  expect_entries(odd,
                 "(1, 7, 1)",
                 {-0.062342599927934145,
                  0.58155672503306233,
                  0.073342461440518425,
                  -0.59515682548301818,
                  0.079616342361512729,
                  0.15921900308151557,
                  0.15318323580299378});
  OperatorFixture inverse("DFT", 20);
  inverse.with("inverse", 1).numbers({1, 4, 2}, wave(8));
  expect_entries(inverse,
                 "(1, 4, 2)",
                 {-0.005872482148361044,
                  0.10688403896068732,
                  0.37737252394997167,
                  0.80477734531871803,
                  -0.17781959435127781,
                  -0.11633125256425708,
                  0.19573789485831775,
                  0.16822805370204474});
}

// So that no entry that is 0 becomes one that is almost 0.
TEST(DFT, HasExactRootsWhereTheyAreWhole) {
  OperatorFixture op("DFT", 17);
  op.numbers({1, 4, 1}, {1, 2, 3, 4});
  const onnx::Value y = op.result();
  const auto got = op.graph().constant_value(*y.var);
  EXPECT_EQ(std::vector<double>(got.begin(), got.end()),
            (std::vector<double>{10, 0, -2, 2, -2, 0, -2, -2}));
}

TEST(DFT, SaysWhatDoesNotFit) {
  const auto refused = [](int opset, auto prepare, const std::string& why) {
    OperatorFixture op("DFT", opset);
    prepare(op);
    expect_refused(op, why);
  };
  refused(
      17,
      [](auto& op) {
        op.data({4, 3});
      },
      "takes a tensor (..., 1) of real");
  refused(
      17, [](auto& op) { op.numbers({1}, {1}); }, "complex numbers, got (1,)");
  refused(
      17,
      [](auto& op) {
        op.data({4, 2}).with("axis", 2);
      },
      "axis 2 of (N, 4, 2) is that of the parts of complex numbers");
  refused(
      17,
      [](auto& op) {
        op.data({4, 2}).with("axis", 3);
      },
      "axis 3 is not one of");
  refused(
      17,
      [](auto& op) {
        op.data({4, 2}).left_out().integers({}, {1});
      },
      "the axis is an attribute before opset 20");
  refused(
      20,
      [](auto& op) {
        op.data({4, 2}).with("axis", 1);
      },
      "the axis is an attribute before opset 20, and an input from there on");
  refused(
      17,
      [](auto& op) {
        op.data({4, 2}).with("onesided", 1);
      },
      "onesided is of real numbers here, and the signal is of complex ones");
  refused(
      17,
      [](auto& op) {
        op.data({4, 1}).with("onesided", 1).with("inverse", 1);
      },
      "onesided is of complex numbers here, and the signal is of real ones");
  refused(
      17,
      [](auto& op) {
        op.data({1, 2}).with("onesided", 1).with("inverse", 1);
      },
      "a transform of 0 entries is not of 1 to");
  refused(
      17,
      [](auto& op) {
        op.data({4, 2}).integers({}, {20'000'000});
      },
      "a transform of 20000000 entries");
  refused(
      17,
      [](auto& op) {
        op.data({4, 2}).integers({}, {9'000'000});
      },
      "at most 10000000");
  refused(
      17,
      [](auto& op) {
        op.data({4, 2}).integers({2}, {4, 4});
      },
      "has 2 entries");
}

TEST(DFT, DoesNotLetSamplesMeet) {
  OperatorFixture op("DFT", 17);
  op.with("axis", 0).data({4, 2});
  expect_refused(op, "transforms axis 0 of (N, 4, 2), the batch (N)");
  OperatorFixture parts("DFT", 17);
  parts.data_with_axes({{.size = 1}, {.size = 4}, onnx::kBatchAxis});
  expect_refused(parts, "transforms axis 2 of (1, 4, N), the batch (N)");
}

}  // namespace
}  // namespace hesscope
