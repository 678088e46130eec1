// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>

#include <Eigen/Core>

#include <hesscope/spectra/internal/interval_use.h>
#include <hesscope/spectra/internal/jackknife.h>

namespace hesscope::detail {
namespace {

// Chosen by simulation; docs/exactness.md has the numbers.
constexpr double kLargestBias = 0.5;          // in standard errors
constexpr double kLargestBiasTakenOff = 1.0;  // for lambda_min, whose interval is corrected
constexpr double kLeastGap = 3.0;             // in standard errors of the gap

// The numbers on which a figure is based; kNumRanked: none.
struct FigureParts {
  Ranked extreme = kNumRanked;
  Ranked median = kNumRanked;
};

// In the order of SpectralFigure.
constexpr std::array<FigureParts, kSpectralFigureNames.size()> kFigureParts = {{
    {.extreme = kRankedLargest},
    {.extreme = kRankedSmallest},
    {.median = kRankedMedian},
    {.median = kRankedMedianMagnitude},
    {kRankedLargest, kRankedMedian},
    {kRankedLargestMagnitude, kRankedMedianMagnitude},
    {kRankedLargestDiagonal, kRankedMedianDiagonal},
}};

class Crowding {
 public:
  Crowding(const FigureRow& value,
           const std::vector<FigureRow>& leave_one_out,
           const std::vector<SampleRange>& blocks)
      : value_(value), leave_one_out_(leave_one_out), blocks_(blocks) {}

  // Whether |bias| exceeds `most` standard errors plus its rounding error: B - 1 times differences
  // of numbers that are each known to within `rounding`.
  bool is_biased(double bias, double standard_error, double most, double rounding) const {
    const auto times = 2.0 * static_cast<double>(leave_one_out_.size() - 1);
    return !(std::abs(bias) <= most * standard_error + times * rounding);
  }

  bool is_biased(Ranked ranked, double most) const {
    const Jackknife found = jackknife_of(ranked, &RankedNumber::value);
    return is_biased(found.bias, found.standard_error, most, rounding_band());
  }

  // Whether the next number on either side is too near.
  bool has_neighbours(Ranked ranked) const {
    for (const auto gap : {&RankedNumber::gap_below, &RankedNumber::gap_above}) {
      const double error = jackknife_of(ranked, gap).standard_error;
      if (!(value_.ranked[ranked].*gap >= kLeastGap * error)) return true;
    }
    return false;
  }

  double rounding_band() const {
    double widest = value_.rounding_band;
    for (const FigureRow& row : leave_one_out_) widest = std::max(widest, row.rounding_band);
    return widest;
  }

 private:
  Jackknife jackknife_of(Ranked ranked, double RankedNumber::*number) const {
    Eigen::VectorXd numbers(static_cast<Eigen::Index>(leave_one_out_.size()));
    std::ranges::transform(leave_one_out_, numbers.begin(), [&](const FigureRow& row) {
      return row.ranked[ranked].*number;
    });
    return jackknife(value_.ranked[ranked].*number, numbers, blocks_);
  }

  const FigureRow& value_;
  const std::vector<FigureRow>& leave_one_out_;
  const std::vector<SampleRange>& blocks_;
};

// For a / b, with a and b each known to within `band`: band / |b| + |a / b| band / |b|.
double rounding_of_ratio(double ratio, double denominator, double band) {
  return (1.0 + std::abs(ratio)) * band / std::abs(denominator);
}

}  // namespace

IntervalUse interval_use(SpectralFigure figure,
                         const FigureRow& value,
                         const std::vector<FigureRow>& leave_one_out,
                         const std::vector<SampleRange>& blocks,
                         const SamplingError& error) {
  if (error.status != Status::kOk) return IntervalUse::kUnknown;
  const auto is_noise = [figure](const FigureRow& row) { return is_rounding_noise(figure, row); };
  if (is_noise(value) && std::ranges::all_of(leave_one_out, is_noise)) return IntervalUse::kUnknown;

  const auto [extreme, median] = kFigureParts[index_of(figure)];
  const Crowding crowding(value, leave_one_out, blocks);
  if (extreme != kNumRanked) {
    const double most = figure == SpectralFigure::kLambdaMin ? kLargestBiasTakenOff : kLargestBias;
    if (crowding.is_biased(extreme, most) || crowding.has_neighbours(extreme)) {
      return IntervalUse::kCrowded;
    }
  }
  if (median == kNumRanked) return IntervalUse::kUsable;
  if (crowding.has_neighbours(median)) return IntervalUse::kCrowdedMedian;
  const double band = crowding.rounding_band();
  const double rounding = extreme == kNumRanked
                              ? band
                              : rounding_of_ratio(error.value, value.ranked[median].value, band);
  const bool is_biased =
      crowding.is_biased(error.bias, error.standard_error, kLargestBias, rounding);
  return is_biased ? IntervalUse::kCrowded : IntervalUse::kUsable;
}

}  // namespace hesscope::detail
