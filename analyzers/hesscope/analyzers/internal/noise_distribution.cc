// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <hesscope/analyzers/internal/batch_sizes.h>
#include <hesscope/analyzers/internal/noise_distribution.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/statistics/histogram.h>
#include <hesscope/statistics/internal/centered.h>
#include <hesscope/statistics/normal_qq.h>
#include <hesscope/statistics/summary.h>
#include <hesscope/statistics/tail_index.h>

namespace hesscope::detail {

using Eigen::VectorXd;

VectorXd settled(VectorXd norms, double rounding) {
  for (double& norm : norms) {
    if (norm <= rounding) norm = 0;
  }
  if (norms.maxCoeff() - norms.minCoeff() <= rounding) norms.setConstant(lower_median_of(norms));
  return norms;
}

NoiseDistribution::NoiseDistribution(Group& declaring)
    : norm_(declaring.add(
          {.name = "norm",
           .dimensions = {"draw"},
           .long_name = "gradient noise",
           .definition =
               std::string(
                   "Euclidean norm of the difference between the gradient over a minibatch and the "
                   "gradient over all samples or, for fresh minibatches, over noise-reference "
                   "further "
                   "ones; norms up to the larger of 16 eps sqrt(tr S + |g|^2) and 16 eps ||H "
                   "diag(theta)||_F are rounding and set to 0, and if all norms lie within that of "
                   "each other, each is set to their lower median; ") +
               kMinibatchLossInWords,
           .references = {papers::kKunstner, papers::kAhn}})),
      batch_size_(declaring.add(
          {.name = "batch_size",
           .type = VariableType::kInt64,
           .long_name = "samples per minibatch",
           .definition = "as requested; by default 64, or all samples if there are fewer"})),
      mean_(declaring.add({.name = "mean",
                           .long_name = "mean noise",
                           .definition = "mean of norm",
                           .headline = 1})),
      standard_deviation_(declaring.add(
          {.name = "standard_deviation",
           .long_name = "standard deviation of the noise",
           .definition = "of norm, with the number of draws minus 1 in the denominator",
           .undefined = {Status::kUndefinedTooFewPoints}})),
      median_(declaring.add({.name = "median",
                             .long_name = "median noise",
                             .definition = "lower median of norm: for an even number of draws, the "
                                           "smaller of the two middle ones"})),
      max_over_median_(declaring.add(
          {.name = "max_over_median",
           .long_name = "largest over median noise",
           .definition = "largest norm / median",
           .undefined = {Status::kUndefinedZeroMedian, Status::kUndefinedZeroDenominator}})),
      skewness_(declaring.add(
          {.name = "skewness",
           .long_name = "skewness of the noise",
           .definition = "m3 / m2^(3/2) of norm, with m_r the mean of (norm - mean)^r",
           .references = {papers::kJoanes},
           .undefined = {Status::kUndefinedZeroDenominator, Status::kUndefinedTooFewPoints},
           .headline = 2})),
      excess_kurtosis_(declaring.add(
          {.name = "excess_kurtosis",
           .long_name = "excess kurtosis of the noise",
           .definition = "m4 / m2^2 - 3 of norm; 0 for a normal distribution",
           .references = {papers::kJoanes},
           .undefined = {Status::kUndefinedZeroDenominator, Status::kUndefinedTooFewPoints},
           .headline = 3})),
      hill_index_(declaring.add(
          {.name = "hill_index",
           .long_name = "tail index of the noise by Hill's estimator",
           .definition = "hill_plot at k = floor(sqrt(number of draws)); small values mean heavy "
                         "tails: moments of this order and above are infinite",
           .references = {papers::kHill},
           .undefined = {Status::kUndefinedZeroDenominator, Status::kUndefinedTooFewPoints},
           .headline = 4})),
      hill_index_standard_error_(declaring.add(
          {.name = "hill_index_standard_error",
           .long_name = "standard error of hill_index",
           .definition = "hill_index / sqrt(k)",
           .references = {papers::kHill},
           .undefined = {Status::kUndefinedZeroDenominator, Status::kUndefinedTooFewPoints}})),
      hill_plot_(declaring.add(
          {.name = "hill_plot",
           .dimensions = {"order"},
           .long_name = "Hill plot",
           .definition = "1 / H_k for k = 1, 2, ..., where H_k is the mean over the k largest "
                         "norms of log(norm / r), with r the (k + 1)-th largest; NaN where H_k is "
                         "zero within rounding, at most 16 eps",
           .references = {papers::kHill},
           .undefined = {Status::kUndefinedZeroDenominator, Status::kUndefinedTooFewPoints}})),
      histogram_edges_(
          declaring.add({.name = "histogram_edges",
                         .dimensions = {"edge"},
                         .long_name = "edges of the histogram of the noise",
                         .definition = "equally spaced from the smallest to the largest norm; if "
                                       "all norms are equal, from 1/2 below to 1/2 above them"})),
      histogram_counts_(
          declaring.add({.name = "histogram_counts",
                         .dimensions = {"bin"},
                         .long_name = "histogram of the noise",
                         .definition = "number of norms from one edge up to but not including the "
                                       "next; the last bin includes its upper edge"})),
      histogram_density_(
          declaring.add({.name = "histogram_density",
                         .dimensions = {"bin"},
                         .long_name = "density of the noise",
                         .definition = "histogram_counts divided by the number of draws and the "
                                       "width of the bin; its integral is 1"})),
      qq_theoretical_(
          declaring.add({.name = "qq_theoretical",
                         .dimensions = {"draw"},
                         .long_name = "normal quantiles",
                         .definition = "normal quantiles of Filliben's p_i = (i - 0.3175) / (K + "
                                       "0.365) for K draws, except that the first is 1 - 2^(-1/K) "
                                       "and the last 2^(-1/K), as in scipy.stats.probplot",
                         .references = {papers::kFilliben}})),
      qq_sample_(declaring.add({.name = "qq_sample",
                                .dimensions = {"draw"},
                                .long_name = "sample quantiles",
                                .definition = "norm, ascending"})),
      qq_slope_(
          declaring.add({.name = "qq_slope",
                         .long_name = "slope of the normal QQ plot",
                         .definition = "of the least-squares line of qq_sample on qq_theoretical",
                         .undefined = {Status::kUndefinedZeroDenominator}})),
      qq_intercept_(declaring.add({.name = "qq_intercept",
                                   .long_name = "intercept of the normal QQ plot",
                                   .definition = "of the same line",
                                   .undefined = {Status::kUndefinedZeroDenominator}})),
      qq_correlation_(
          declaring.add({.name = "qq_correlation",
                         .long_name = "correlation of the normal QQ plot",
                         .definition = "correlation coefficient of qq_theoretical and qq_sample",
                         .references = {papers::kFilliben},
                         .undefined = {Status::kUndefinedZeroDenominator}})),
      qq_theoretical_standardized_(
          declaring.add({.name = "qq_theoretical_standardized",
                         .dimensions = {"draw"},
                         .long_name = "normal quantiles of the standardised plot",
                         .definition = "normal quantiles of p_i = i / (K + 1), as in statsmodels' "
                                       "qqplot with fit=True, a=0",
                         .undefined = {Status::kUndefinedZeroDenominator}})),
      qq_sample_standardized_(declaring.add({.name = "qq_sample_standardized",
                                             .dimensions = {"draw"},
                                             .long_name = "standardised sample quantiles",
                                             .definition = "(norm - mean) / sqrt(m2), ascending",
                                             .undefined = {Status::kUndefinedZeroDenominator}})) {}

void NoiseDistribution::set(Group& answer,
                            const MinibatchNoise& noise,
                            double rounding,
                            Eigen::Index num_bins) const {
  answer[batch_size_].set_count(noise.batch_size);
  if (noise.status != Status::kOk) {
    for (const VariableId id : {norm_,
                                qq_theoretical_,
                                qq_sample_,
                                qq_theoretical_standardized_,
                                qq_sample_standardized_}) {
      answer[id].set_missing(noise.status);
    }
    return;
  }
  const VectorXd norms = settled(noise.norms, rounding);
  answer[norm_].set(norms);
  set_moments(answer, norms);
  set_tail(answer, norms);
  set_histogram(answer, norms, num_bins);
  set_plots(answer, norms);
}

void NoiseDistribution::set_moments(Group& answer, const VectorXd& norms) const {
  const Summary summary = summarize(norms);
  answer[mean_].set(summary.mean);
  answer[standard_deviation_].set(summary.standard_deviation);
  answer[median_].set(summary.median);
  answer[max_over_median_].set(summary.max_over_median);
  answer[skewness_].set(summary.skewness);
  answer[excess_kurtosis_].set(summary.excess_kurtosis);
}

void NoiseDistribution::set_tail(Group& answer, const VectorXd& norms) const {
  const TailIndex tail = tail_index(norms);
  answer[hill_index_].set(tail.index);
  answer[hill_index_standard_error_].set(tail.standard_error);
  if (tail.by_count.array().isNaN().all()) {  // or there is none
    answer[hill_plot_].set_missing(tail.index.status);
  } else {
    answer[hill_plot_].set_rows(tail.by_count.transpose(), Status::kOk);  // NaN is part of it
  }
}

void NoiseDistribution::set_histogram(Group& answer,
                                      const VectorXd& norms,
                                      Eigen::Index num_bins) const {
  const Histogram bins = histogram(norms, num_bins);
  if (bins.status != Status::kOk) {
    for (const VariableId id : {histogram_edges_, histogram_counts_, histogram_density_}) {
      answer[id].set_missing(bins.status);
    }
    return;
  }
  answer[histogram_edges_].set(bins.edges);
  answer[histogram_counts_].set(bins.counts);
  answer[histogram_density_].set(bins.density);
}

void NoiseDistribution::set_plots(Group& answer, const VectorXd& norms) const {
  const QqPlot plot = normal_qq(norms, QqConvention::kFilliben);
  answer[qq_theoretical_].set(plot.theoretical);
  answer[qq_sample_].set(plot.sample);
  answer[qq_slope_].set(plot.line.slope);
  answer[qq_intercept_].set(plot.line.intercept);
  answer[qq_correlation_].set(plot.line.correlation);
  const QqPlot standardized = normal_qq(norms, QqConvention::kStandardized);
  if (standardized.status == Status::kOk) {
    answer[qq_theoretical_standardized_].set(standardized.theoretical);
    answer[qq_sample_standardized_].set(standardized.sample);
  } else {
    answer[qq_theoretical_standardized_].set_missing(standardized.status);
    answer[qq_sample_standardized_].set_missing(standardized.status);
  }
}

}  // namespace hesscope::detail
