// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <hesscope/analyzers/internal/noise_quantities.h>

namespace hesscope::detail {
namespace {

void append(std::vector<Variable>& all, std::vector<Variable> more) {
  all.insert(all.end(), more.begin(), more.end());
}

std::vector<Variable> distribution_quantities() {
  return {
      {.name = "norm",
       .dimensions = {"draw"},
       .long_name = "gradient noise",
       .definition = "Euclidean norm of the gradient over a minibatch minus that over all samples; "
                     "of fresh minibatches minus that over noise-reference further ones"},
      {.name = "batch_size",
       .type = VariableType::kInt64,
       .long_name = "samples a minibatch",
       .definition = "as asked for, or the smaller of 64 and all samples"},
      {.name = "mean", .long_name = "mean noise", .definition = "mean of norm"},
      {.name = "standard_deviation",
       .long_name = "standard deviation of the noise",
       .definition = "of norm, with the number of draws minus 1 in the denominator"},
      {.name = "median",
       .long_name = "median noise",
       .definition =
           "lower median of norm: of an even number the smaller of the two in the middle"},
      {.name = "max_over_median",
       .long_name = "largest over median noise",
       .definition = "largest norm / median"},
      {.name = "skewness",
       .long_name = "skewness of the noise",
       .definition = "m3 / m2^(3/2) of norm, with m_r the mean of (norm - mean)^r"},
      {.name = "excess_kurtosis",
       .long_name = "excess kurtosis of the noise",
       .definition = "m4 / m2^2 - 3 of norm; 0 for a normal distribution"},
      {.name = "hill_index",
       .long_name = "tail index of the noise by Hill's estimator",
       .definition = "hill_plot where k is the floor of the root of the number of draws; heavy "
                     "tails are small numbers: moments of this order and above are infinite"},
      {.name = "hill_index_standard_error",
       .long_name = "standard error of hill_index",
       .definition = "hill_index / sqrt(k)"},
      {.name = "hill_plot",
       .dimensions = {"order"},
       .long_name = "Hill plot",
       .definition = "1 / H_k for k = 1, 2, ..., with H_k the mean over the k largest norms of "
                     "log(norm / the norm next below them); NaN where H_k is 0"},
      {.name = "histogram_edges",
       .dimensions = {"edge"},
       .long_name = "edges of the histogram of the noise",
       .definition = "equally spaced from the smallest to the largest norm"},
      {.name = "histogram_counts",
       .dimensions = {"bin"},
       .long_name = "histogram of the noise",
       .definition = "norms from one edge on and below the next; in the last bin up to its edge"},
      {.name = "histogram_density",
       .dimensions = {"bin"},
       .long_name = "density of the noise",
       .definition = "histogram_counts over the number of draws and the width of the bin; its "
                     "integral is 1"},
  };
}

std::vector<Variable> qq_quantities() {
  return {
      {.name = "qq_theoretical",
       .dimensions = {"draw"},
       .long_name = "normal quantiles",
       .definition = "of Filliben's p_i = (i - 0.3175) / (K + 0.365), first 1 - 2^(-1/K), last "
                     "2^(-1/K), for K draws, as scipy.stats.probplot"},
      {.name = "qq_sample",
       .dimensions = {"draw"},
       .long_name = "sample quantiles",
       .definition = "norm, ascending"},
      {.name = "qq_slope",
       .long_name = "slope of the normal QQ plot",
       .definition = "of the least-squares line of qq_sample on qq_theoretical"},
      {.name = "qq_intercept",
       .long_name = "intercept of the normal QQ plot",
       .definition = "of the same line"},
      {.name = "qq_correlation",
       .long_name = "correlation of the normal QQ plot",
       .definition = "correlation coefficient of qq_theoretical and qq_sample"},
      {.name = "qq_theoretical_standardized",
       .dimensions = {"draw"},
       .long_name = "normal quantiles of the standardised plot",
       .definition = "of p_i = i / (K + 1), as statsmodels' qqplot with fit=True, a=0"},
      {.name = "qq_sample_standardized",
       .dimensions = {"draw"},
       .long_name = "standardised sample quantiles",
       .definition = "(norm - mean) / sqrt(m2), ascending"},
  };
}

std::vector<Variable> scale_quantities() {
  std::vector<Variable> all = {
      {.name = "covariance_trace",
       .long_name = "total variance of per-sample gradients",
       .definition = "tr S, S the covariance of the gradients of single samples, with the number "
                     "of samples minus 1 in the denominator"}};
  const auto add =
      [&](const std::string& name, const std::string& long_name, const std::string& definition) {
        all.push_back({.name = name, .long_name = long_name, .definition = definition});
        all.push_back({.name = name + "_bias",
                       .long_name = "bias of " + name,
                       .definition = "delete-one-block jackknife over 32 blocks of consecutive "
                                     "samples, fewer if there are fewer; not taken off"});
        all.push_back({.name = name + "_standard_error",
                       .long_name = "standard error of " + name,
                       .definition = "by the same jackknife"});
      };
  add("noise_scale_simple", "simple gradient noise scale", "tr S / |g|^2, in samples");
  add("noise_scale_hessian",
      "gradient noise scale",
      "tr(H S) / (g^T H g), in samples; H the Hessian");
  return all;
}

std::vector<Variable> alignment_quantities() {
  return {
      {.name = "alignment_cosine",
       .long_name = "cosine between Hessian and covariance of gradients",
       .definition = "tr(H S) / (||H||_F ||S||_F)"},
      {.name = "commutator",
       .long_name = "commutator of Hessian and covariance of gradients",
       .definition = "||H S - S H||_F / (2 ||H||_F ||S||_F); at most 1 / sqrt(2)"},
      {.name = "eigenvalues",
       .dimensions = {"rank"},
       .long_name = "eigenvalues of the Hessian",
       .definition = "ascending"},
      {.name = "eigendirection_noise",
       .dimensions = {"rank"},
       .long_name = "variance of per-sample gradients along eigenvectors of the Hessian",
       .definition = "v^T S v for the unit eigenvector v of each eigenvalue"},
      {.name = "noise_exponent",
       .long_name = "exponent of noise as a power of curvature",
       .definition = "slope of the least-squares line of log eigendirection_noise on log "
                     "|eigenvalue|, over those of which neither is zero within rounding"},
      {.name = "noise_exponent_standard_error",
       .long_name = "standard error of noise_exponent",
       .definition = "that of the slope, for residuals independent and of equal variance"},
      {.name = "noise_exponent_count",
       .type = VariableType::kInt64,
       .long_name = "eigenvalues in the fit of noise_exponent",
       .definition = "how many there are of which neither number is zero within rounding"},
  };
}

std::vector<Variable> ladder_quantities() {
  std::vector<Variable> all;
  for (const char* name : {"mean",
                           "standard_deviation",
                           "max_over_median",
                           "skewness",
                           "excess_kurtosis",
                           "hill_index",
                           "qq_correlation"}) {
    all.push_back({.name = std::string("ladder_") + name,
                   .dimensions = {"ladder_batch_size"},
                   .long_name = std::string(name) + " by batch size",
                   .definition = std::string("as ") + name +
                                 ", of minibatches of each size; NaN where undefined"});
  }
  return all;
}

}  // namespace

std::vector<Variable> noise_quantities(bool has_ladder) {
  std::vector<Variable> all = distribution_quantities();
  append(all, qq_quantities());
  append(all, scale_quantities());
  append(all, alignment_quantities());
  if (has_ladder) append(all, ladder_quantities());
  return all;
}

}  // namespace hesscope::detail
