// SPDX-License-Identifier: BSD-3-Clause
//
// How far spectral figures of a Hessian over N samples are from those over the population from
// which the samples were drawn, estimated by the delete-one-block jackknife.
//
// The N samples form B blocks of N_b consecutive samples each. With H_b the Hessian over block b,
// the Hessian over the samples outside it is
//   H_(-b) = H + N_b / (N - N_b) (H - H_b),
// and the spread of the figures of the H_(-b) estimates the sampling error of the figure of H. If
// the loss is a weighted mean (Objective::sample_weight), H_(-b) is divided by the total weight of
// the samples outside the block, as it would be for any other draw of samples. Blocks must be
// alike: samples in random order, or with dependence only over distances that are short compared
// with a block. A data set sorted by class gives errors that are too large.
//
//   full         the figures of each H_(-b) from its own decomposition.
//   first order  those of H, moved by d lambda = v^T (H_(-b) - H) v with the eigenvectors v of H: k
//                products with vectors, and no matrix at all. Valid if eigenvalues move by less
//                than their distances; not valid at a multiple eigenvalue.
//
// For measurements of which of them can be trusted, see sampling_errors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/status.h>
#include <hesscope/objective/objective.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope {

enum class SpectralFigure : std::int8_t {
  kLambdaMax = 0,
  kLambdaMin = 1,
  kLambdaMedian = 2,      ///< lower median
  kMedianMagnitude = 3,   ///< lower median |lambda|
  kRobustEigenvalue = 4,  ///< these three as in condition_numbers.h
  kRobustAbsolute = 5,
  kRobustDiagonal = 6,
};

/// In the order of the enumerator values.
inline constexpr std::array<std::string_view, 7> kSpectralFigureNames = {
    "lambda_max",
    "lambda_min",
    "lambda_median",
    "median_magnitude",
    "robust_eigenvalue",
    "robust_absolute",
    "robust_diagonal",
};
static_assert(kSpectralFigureNames.size() ==
              static_cast<std::size_t>(SpectralFigure::kRobustDiagonal) + 1);

constexpr std::size_t index_of(SpectralFigure figure) { return static_cast<std::size_t>(figure); }

/// Whether the figure is the ratio of the largest of some magnitudes to their median.
constexpr bool is_at_least_one(SpectralFigure figure) {
  return figure == SpectralFigure::kRobustAbsolute || figure == SpectralFigure::kRobustDiagonal;
}

/// Whether a confidence interval can be used. The interval of a crowded figure misses the
/// population's value far more often than its level says, and the interval itself does not show it.
///   kCrowded        the extreme that the figure is, or is a ratio of, may be another one with
///                   other samples: its |bias| is above half its standard error (for lambda_min,
///                   whose interval is corrected by the bias, above the whole of it), or the next
///                   one is nearer than 3 standard errors of their distance. For medians and ratios
///                   also if their own |bias| is above half their standard error.
///   kCrowdedMedian  the extreme, if there is one, is separated, but the median that the figure is,
///                   or that it is divided by, is not, on one side or the other: the interval may
///                   be too wide or too narrow.
///   kUsable         neither.
///   kUnknown        there is no interval, or it is of first order, or the eigenvalue is zero
///                   within rounding both for all samples and whichever block is omitted.
/// Biases are considered only beyond the effect of rounding. Numbers that are equal within rounding
/// count as one; for robust_absolute the extreme is the largest |lambda|, for robust_diagonal the
/// largest |H_ii|.
enum class IntervalUse : std::int8_t {
  kUnknown = 0,
  kUsable = 1,
  kCrowded = 2,
  kCrowdedMedian = 3,
};

/// In the order of the enumerator values.
inline constexpr std::array<std::string_view, 4> kIntervalUseMeanings = {
    "unknown", "usable", "crowded", "crowded_median"};
static_assert(kIntervalUseMeanings.size() ==
              static_cast<std::size_t>(IntervalUse::kCrowdedMedian) + 1);

/// One figure with its sampling error, all in the figure's unit; NaN if there is none.
struct SamplingError {
  /// Status of the error, not of the value: kUndefinedZeroMedian if the denominator of a ratio is
  /// zero within rounding for all samples or without one of the blocks, or changes its sign when a
  /// block is omitted: it then cannot be distinguished from zero. kNonFinite, kFailed: a Hessian or
  /// a decomposition. kNotComputed: an eigenvector was missing.
  Status status = Status::kNotComputed;
  double value = kNaN;  ///< from all samples
  /// Estimate of E[value] minus the population's figure; for equal blocks (B - 1) (mean of the
  /// leave-one-out figures - value). NaN in first order, where it would be zero by construction for
  /// eigenvalues. `value` is not corrected by it.
  double bias = kNaN;
  double standard_error = kNaN;
  double lower = kNaN;  ///< of the confidence interval
  double upper = kNaN;
  IntervalUse interval = IntervalUse::kUnknown;
};

struct SamplingErrors {
  std::array<SamplingError, kSpectralFigureNames.size()> figures;
  /// B x 7, columns in the order of SpectralFigure: the figures without block b; NaN where
  /// undefined or not computed.
  Eigen::MatrixXd leave_one_out;

  const SamplingError& operator[](SpectralFigure figure) const { return figures[index_of(figure)]; }
};

struct SamplingErrorOptions {
  Eigen::Index num_blocks = 32;  ///< B, 2..N
  double level = 0.95;           ///< of the confidence intervals, in (0, 1)
};

struct Eigenpair {
  double value = kNaN;
  Eigen::VectorXd vector;  ///< unit; empty: not known
};

/// What the first-order estimate needs of H over all samples; figures with unknown pairs are not
/// computed.
struct SpectralEigenpairs {
  Eigenpair largest;
  Eigenpair smallest;
  Eigenpair median;            ///< of the lower median eigenvalue
  Eigenpair median_magnitude;  ///< the eigenvalue whose magnitude is the lower median |lambda|
};

/// First-order estimates for an objective whose Hessian need not fit into memory.
///
/// The ratios are those of first-order numerators and denominators. robust_diagonal is not
/// computed.
/// @throws PreconditionError if theta does not fit the objective, a vector does not have n entries,
///         or an option is out of its range.
/// @cost   one pass over the samples of hessian_times with up to 4 vectors.
SamplingErrors first_order_sampling_errors(const Objective& objective,
                                           const Eigen::Ref<const Eigen::VectorXd>& theta,
                                           const SpectralEigenpairs& eigenpairs,
                                           const SamplingErrorOptions& options = {});

struct SamplingErrorEstimates {
  SamplingErrors full;
  SamplingErrors first_order;  ///< includes robust_diagonal, as the diagonals are available
};

/// Both estimates, for an objective whose Hessian is assembled.
///
/// Standard errors s and biases are those of the delete-m_j jackknife. With t from Student's
/// distribution with B - 1 degrees of freedom, the intervals are
///   lambda_min    value - bias -+ t s; in first order value -+ t s
///   the others    value exp(-+ t s'), s' that of log |figure|; value -+ t s if lambda_max, or the
///                 median that the figure is, changes its sign when a block is omitted or is zero
///                 within rounding, for all samples or without a block. robust_absolute and
///                 robust_diagonal are never below 1, and their intervals are cut off there.
/// The rounding error without block b is (n + 10) eps ((1 + w) ||H||_2 + w ||H_b||_F), w = N_b / (N
/// - N_b), since H_(-b) = (1 + w) H - w H_b may be far smaller than its terms; in first order, the
/// largest |v^T H_b v| replaces ||H_b||.
/// These choices were made by how often nominal 95 % intervals contained the population's figure,
/// in 200 data sets each of 400 to 16,000 samples: sums of random matrices, and the loss of linear
/// attention with bounded and with Gaussian prompts.
///  - Medians of crowded eigenvalues, and extremes and medians of nearly equal diagonal entries,
///    are not smooth in H. Their bias, B - 1 times small differences, is then mostly noise: the
///    coverage was 57 to 85 % for intervals around corrected values, and 90 to 100 % for those
///    around the value if the data are bounded. Their standard errors are up to 1.5 times too
///    large.
///  - lambda_min is too low in most samples; the coverage of its intervals was 82 to 95 %
///    uncorrected, 89 to 97 % corrected.
///  - With heavy-tailed samples, a few of which dominate H, intervals of robust_absolute and
///    robust_diagonal are too narrow: the coverage was 76 to 88 % with 1,000 Gaussian prompts, 82
///    to 92 % with 4,000. No part of the samples can reveal what none of them contain.
///  - If extremes or medians are crowded, intervals may fail almost always:
///    SamplingError::interval.
///  - First order did as well as the full estimate, except for lambda_min, which it cannot correct.
/// @param  hessian  that of `objective` at `theta` over all samples, n x n, symmetric.
/// @throws PreconditionError if theta or the matrix does not fit the objective or an option is out
///         of its range. Interrupted if the callback asks to stop.
/// @cost   the Hessians of the blocks, which together are one over all samples; B + 2 times 4/3 n^3
///         operations; two n x n matrices in addition to `hessian` and the objective's workspace.
/// @source F. Busing, E. Meijer & R. van der Leeden (1999), Delete-m jackknife for unequal m,
///         Statistics and Computing 9, 3-8. J. Shao & C. Wu (1989), Annals of Statistics 17,
///         1176-1197, on figures that are not smooth.
SamplingErrorEstimates sampling_errors(const Objective& objective,
                                       const Eigen::Ref<const Eigen::VectorXd>& theta,
                                       const Eigen::Ref<const Eigen::MatrixXd>& hessian,
                                       const SamplingErrorOptions& options = {},
                                       const ProgressCallback& progress = {});

struct BlockSamplingErrors {
  SamplingErrors errors;
  Spectrum spectrum;  ///< of the mean over all blocks
};

/// The full estimate alone, from the Hessians over blocks of equally many samples.
/// @param  blocks  at least two, n x n, symmetric.
/// @param  level   as in SamplingErrorOptions.
/// @throws PreconditionError if there are fewer, their sizes differ, or the level is out of its
///         range.
/// @cost   B + 1 decompositions; two n x n matrices.
BlockSamplingErrors sampling_errors_of_blocks(std::span<const Eigen::MatrixXd> blocks,
                                              double level,
                                              const ProgressCallback& progress = {});

/// The same, computing the Hessian over all samples first.
SamplingErrorEstimates sampling_errors(const Objective& objective,
                                       const Eigen::Ref<const Eigen::VectorXd>& theta,
                                       const SamplingErrorOptions& options = {},
                                       const ProgressCallback& progress = {});

}  // namespace hesscope
