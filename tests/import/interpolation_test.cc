// SPDX-License-Identifier: BSD-3-Clause
//
// Coordinates and weights of resized axes, against ONNX's definitions and PyTorch's numbers.
#include <cmath>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/import/internal/interpolation.h>

#include "support/derivative_oracle.h"

namespace hesscope::onnx {
namespace {

using test::expect_close;

std::vector<double> coordinates_of(const ResizedAxis& axis, Coordinates coordinates) {
  std::vector<double> all;
  for (std::int64_t at = 0; at < axis.to; ++at) {
    all.push_back(coordinate_of(axis, coordinates, at));
  }
  return all;
}

constexpr ResizedAxis kDoubled{.from = 3, .to = 6, .scale = 2};

TEST(Coordinates, AreThoseOfTheDefinition) {
  const auto expect = [](Coordinates coordinates, const std::vector<double>& expected) {
    const std::vector<double> all = coordinates_of(kDoubled, coordinates);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_DOUBLE_EQ(all[i], expected[i]) << i;
  };
  expect(Coordinates::kAlignCorners, {0, 0.4, 0.8, 1.2, 1.6, 2});
  expect(Coordinates::kAsymmetric, {0, 0.5, 1, 1.5, 2, 2.5});
  expect(Coordinates::kHalfPixel, {-0.25, 0.25, 0.75, 1.25, 1.75, 2.25});
  expect(Coordinates::kHalfPixelSymmetric, {-0.25, 0.25, 0.75, 1.25, 1.75, 2.25});
  expect(Coordinates::kPytorchHalfPixel, {-0.25, 0.25, 0.75, 1.25, 1.75, 2.25});
  expect(Coordinates::kTensorflowHalfPixel, {0.25, 0.75, 1.25, 1.75, 2.25, 2.75});
}

TEST(Coordinates, OfALengthOfOne) {
  const ResizedAxis axis{.from = 4, .to = 1, .scale = 0.25, .roi_begin = 0.25, .roi_end = 0.5};
  EXPECT_EQ(coordinate_of(axis, Coordinates::kAlignCorners, 0), 0);
  EXPECT_EQ(coordinate_of(axis, Coordinates::kHalfPixel, 0), 1.5);
  EXPECT_EQ(coordinate_of(axis, Coordinates::kPytorchHalfPixel, 0), 0);
  EXPECT_EQ(coordinate_of(axis, Coordinates::kCropAndResize, 0), 0.5 * 0.75 * 3);
}

TEST(Coordinates, AlignCornersWhereTheLengthWasRounded) {
  const ResizedAxis axis{.from = 4, .to = 2, .scale = 0.6};
  EXPECT_EQ(coordinates_of(axis, Coordinates::kAlignCorners), (std::vector<double>{0, 3}));
}

// 2 * 2.5 is 5: nothing was rounded. 2 * 2.3 is 4: half of the missing 0.6 / 2.3 is at either end.
TEST(Coordinates, AreCentredWhereTheLengthWasRounded) {
  const ResizedAxis exact{.from = 2, .to = 5, .scale = 2.5};
  EXPECT_EQ(coordinates_of(exact, Coordinates::kHalfPixelSymmetric),
            coordinates_of(exact, Coordinates::kHalfPixel));
  const ResizedAxis rounded{.from = 2, .to = 4, .scale = 2.3};
  const std::vector<double> all = coordinates_of(rounded, Coordinates::kHalfPixelSymmetric);
  EXPECT_NEAR(all[0] + all[3], 1, 1e-15);
  EXPECT_NEAR(all[0], 0.5 / 2.3 - 0.5 + 0.3 / 2.3, 1e-15);
}

TEST(Coordinates, OfACropAreNoneOutside) {
  const ResizedAxis axis{.from = 3, .to = 3, .scale = 1, .roi_begin = 0.5, .roi_end = 1.5};
  EXPECT_EQ(coordinate_of(axis, Coordinates::kCropAndResize, 0), 1);
  EXPECT_EQ(coordinate_of(axis, Coordinates::kCropAndResize, 1), 2);
  EXPECT_TRUE(std::isnan(coordinate_of(axis, Coordinates::kCropAndResize, 2)));
  EXPECT_EQ(nearest_entries(axis, Coordinates::kCropAndResize, Rounding::kFloor),
            (std::vector<std::int64_t>{1, 2, -1}));
  const Eigen::MatrixXd weights = interpolation_weights(axis, Coordinates::kCropAndResize, {});
  EXPECT_EQ(weights.row(2), Eigen::RowVector3d(0, 0, 0));
}

TEST(NearestEntries, RoundHalvesAsAsked) {
  const auto entries = [](Rounding rounding) {
    return nearest_entries(kDoubled, Coordinates::kAsymmetric, rounding);
  };
  using Entries = std::vector<std::int64_t>;
  EXPECT_EQ(entries(Rounding::kFloor), (Entries{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(entries(Rounding::kCeil), (Entries{0, 1, 1, 2, 2, 2}));
  EXPECT_EQ(entries(Rounding::kPreferFloor), (Entries{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(entries(Rounding::kPreferCeil), (Entries{0, 1, 1, 2, 2, 2}));
  EXPECT_EQ(entries(Rounding::kOfOpset10), (Entries{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(nearest_entries(
                {.from = 4, .to = 2, .scale = 0.6}, Coordinates::kAsymmetric, Rounding::kOfOpset10),
            (Entries{0, 2}));
}

// A line is interpolated to itself; beyond the ends it is flat.
TEST(InterpolationWeights, AreExactForLines) {
  const Eigen::VectorXd line = Eigen::VectorXd::LinSpaced(3, 0, 2);
  const Eigen::VectorXd resized =
      interpolation_weights(kDoubled, Coordinates::kHalfPixel, {}) * line;
  expect_close(resized,
               (Eigen::VectorXd(6) << 0, 0.25, 0.75, 1.25, 1.75, 2).finished(),
               1e-15,
               "half_pixel");
}

// With a = -1/2 the kernel is Keys', exact for parabolas.
TEST(InterpolationWeights, AreExactForParabolasInside) {
  const ResizedAxis axis{.from = 7, .to = 13, .scale = 13.0 / 7};
  const Eigen::VectorXd parabola = Eigen::VectorXd::LinSpaced(7, 0, 6).array().square();
  const Eigen::VectorXd resized =
      interpolation_weights(axis, Coordinates::kAlignCorners, {.is_cubic = true, .cubic_a = -0.5}) *
      parabola;
  for (Eigen::Index i = 2; i <= 10; ++i) {
    EXPECT_NEAR(resized(i), std::pow(static_cast<double>(i) / 2, 2), 1e-13) << i;
  }
}

// torch.nn.functional.interpolate(mode='bicubic') of 1.13.1.
TEST(InterpolationWeights, OfCubicsAreThoseOfPyTorch) {
  const Eigen::VectorXd x = (Eigen::VectorXd(5) << 1, -2, 4, 0.5, 3).finished();
  const auto resized = [&](std::int64_t to, Coordinates coordinates) -> Eigen::VectorXd {
    const ResizedAxis axis{.from = 5, .to = to, .scale = static_cast<double>(to) / 5};
    return interpolation_weights(axis, coordinates, {.is_cubic = true}) * x;
  };
  const Eigen::VectorXd half_pixel = (Eigen::VectorXd(8) << 1.27850341796875,
                                      -0.77392578125,
                                      -1.815887451171875,
                                      2.482513427734375,
                                      3.515533447265625,
                                      0.587371826171875,
                                      1.642852783203125,
                                      3.232086181640625)
                                         .finished();
  expect_close(resized(8, Coordinates::kHalfPixel), half_pixel, 1e-15, "half_pixel");
  const Eigen::VectorXd corners = (Eigen::VectorXd(8) << 1,
                                   -1.37026239067055355,
                                   -1.46428571428571419,
                                   2.66836734693877498,
                                   3.62317784256560049,
                                   0.80539358600582944,
                                   1.18221574344023317,
                                   3)
                                      .finished();
  expect_close(resized(8, Coordinates::kAlignCorners), corners, 1e-15, "align_corners");
  const Eigen::Vector3d fewer(-0.277777777777779, 4, 2.01851851851852171);
  expect_close(resized(3, Coordinates::kPytorchHalfPixel), fewer, 1e-14, "fewer");
}

// ONNX's examples resize_downsample_scales_{linear,cubic}_antialias, of x = 1 + 4 i + j: their
// first entries are 1 + 5 y of the one axis.
TEST(InterpolationWeights, AreStretchedAgainstAliases) {
  const ResizedAxis axis{.from = 4, .to = 2, .scale = 0.6};
  const Eigen::VectorXd line = Eigen::VectorXd::LinSpaced(4, 0, 3);
  const auto resized = [&](bool is_cubic) -> Eigen::VectorXd {
    return interpolation_weights(
               axis, Coordinates::kHalfPixel, {.is_cubic = is_cubic, .is_antialiased = true}) *
           line;
  };
  expect_close(resized(false), Eigen::Vector2d(1.875 / 5, 2), 1e-15, "linear");
  expect_close(resized(true), Eigen::Vector2d(1.5180721 / 5, 10.357142 / 5), 1e-7, "cubic");
}

TEST(InterpolationWeights, OutsideWeighNothingIfAsked) {
  const ResizedAxis axis{.from = 4, .to = 8, .scale = 2};
  const Filter filter{.is_cubic = true, .excludes_outside = true};
  const Eigen::MatrixXd weights = interpolation_weights(axis, Coordinates::kHalfPixel, filter);
  expect_close(weights.rowwise().sum(), Eigen::VectorXd::Ones(8), 1e-15, "sums");
  // At -0.25: of the entries at -2, -1, 0 and 1 the last two remain.
  const auto kernel = [](double t) {
    return t <= 1 ? (1.25 * t - 2.25) * t * t + 1 : ((-0.75 * t + 3.75) * t - 6) * t + 3;
  };
  const double total = kernel(0.25) + kernel(1.25);
  EXPECT_NEAR(weights(0, 0), kernel(0.25) / total, 1e-15);
  EXPECT_NEAR(weights(0, 1), kernel(1.25) / total, 1e-15);
  EXPECT_EQ(weights(0, 2), 0);
}

}  // namespace
}  // namespace hesscope::onnx
