// SPDX-License-Identifier: BSD-3-Clause
//
// Prompts of in-context linear regression, for linear attention.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/core/settings.h>
#include <hesscope/sampling/sampler_registry.h>

namespace hesscope {

/// The distribution of a token x in R^d. The tokens of a prompt, including the query, are
/// independent except with kOrthogonal.
enum class Covariates {
  kGaussian,  ///< N(0, I)
  kSphere,    ///< uniform on the unit sphere: a Gaussian, normalised
  kGamma,     ///< sqrt(r) u: u uniform on the unit sphere, r ~ Gamma(shape, scale), so ||x||^2 = r.
              ///< Mean k theta and variance k theta^2 of ||x||^2; N(0, I) has d and 2 d
  /// sqrt(d) times the rows of a random orthogonal d x d matrix (Haar), with a new matrix for every
  /// d tokens: the first n tokens of a prompt have sum x x^T = n I if d divides n. Not from the
  /// literature.
  kOrthogonal,
};

struct LinearRegressionOptions {
  std::int64_t dimension = 1;  ///< d
  std::int64_t context = 1;    ///< n, examples before the query
  Covariates covariates = Covariates::kGaussian;
  double gamma_shape = 0;  ///< k, for kGamma
  double gamma_scale = 0;  ///< theta, for kGamma
  /// Width h of a fixed random MLP that distorts the targets; 0 = no distortion.
  std::int64_t distortion_hidden = 0;
  std::uint64_t distortion_seed = 0;  ///< of the MLP; other seeds give other targets
};

/// "linear-regression": w ~ N(0, I_d) for every prompt, tokens x_1, ..., x_{n+1}, and y_j = <w,
/// x_j>. With a distortion, y_j = <w, A_2 relu(A_1 x_j + b_1) + b_2> with A_1 of size h x d and A_2
/// of size d x h. The entries of a layer are uniform in +-1 / sqrt(number of its inputs) (the
/// default of torch.nn.Linear), the same for all prompts, from (distortion_seed, Stream::kTask, 0).
/// Z still shows x.
///
/// Arrays: Z (d+1, n+1) with columns (x_j, y_j), where 0 replaces the query's y; target = y_{n+1}.
/// @cost (d + 1) (n + 1) normal numbers and little else; with kGamma also n + 1 gamma numbers, with
///       a distortion also 2 d h products per token.
/// @source Ahn, Cheng, Song, Yun, Jadbabaie, Sra (2023), arXiv 2310.01082, section 3: settings 1 (d
/// 5, n 20), 2 (d 5, n 5), 3 (d 5, n 20, Gamma(0.1, 10)); spheres and distortions from the authors'
/// code (h 10; 5 in the paper).
class LinearRegression final : public Sampler {
 public:
  /// @throws PreconditionError for sizes below 1 and Gamma parameters that are not positive and
  ///         finite.
  explicit LinearRegression(const LinearRegressionOptions& options);

  void draw(std::uint64_t seed,
            Stream stream,
            std::uint64_t index,
            std::span<double> record) const override;

 private:
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  void draw_tokens(RandomStream& random, Eigen::Map<RowMajor> tokens) const;

  LinearRegressionOptions options_;
  Eigen::MatrixXd hidden_weight_, output_weight_;  // A_1, A_2
  Eigen::VectorXd hidden_bias_, output_bias_;      // b_1, b_2
};

/// Moments of the distribution of a token x: E ||x||^2 and E ||x||^4.
struct CovariateMoments {
  double second = 0;
  double fourth = 0;
};

CovariateMoments covariate_moments(const LinearRegressionOptions& options);

/// The keys that specify the distribution: covariates, one of `laws`, gamma_shape and gamma_scale.
std::vector<SettingKey> covariate_keys(std::vector<std::string> laws);

/// Sets covariates, gamma_shape and gamma_scale from those keys.
/// @throws ConfigError naming the key that the distribution lacks, does not take, or needs to be
///         positive and finite.
void read_covariates(const Settings& settings, LinearRegressionOptions& options);

SamplerKind linear_regression_kind();

}  // namespace hesscope
