// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/sampling/internal/sampler_support.h>
#include <hesscope/sampling/linear_regression.h>

namespace hesscope {
namespace {

bool is_positive(double x) { return x > 0 && x < kInfinity; }

// Row by row, like the initialisation of torch.nn.Linear(inputs, outputs): U(+-1 / sqrt(inputs)).
Eigen::MatrixXd uniform_entries(RandomStream& random,
                                Eigen::Index rows,
                                Eigen::Index cols,
                                Eigen::Index inputs) {
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  Eigen::MatrixXd entries(rows, cols);
  for (Eigen::Index r = 0; r < rows; ++r) {
    for (Eigen::Index c = 0; c < cols; ++c) entries(r, c) = bound * (2 * random.uniform() - 1);
  }
  return entries;
}

// Gram-Schmidt, twice: columns d b, ..., d b + d - 1 become orthonormal. For a Gaussian matrix the
// result is Haar distributed, since R has a positive diagonal.
template <typename Columns>
void orthonormalize(Columns&& x) {
  const Eigen::Index d = x.rows();
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    const Eigen::Index first = j - j % d;
    for (int pass = 0; pass < 2; ++pass) {
      for (Eigen::Index k = first; k < j; ++k) x.col(j) -= x.col(k).dot(x.col(j)) * x.col(k);
    }
    x.col(j).normalize();
  }
}

}  // namespace

LinearRegression::LinearRegression(const LinearRegressionOptions& options) : options_(options) {
  const std::int64_t d = options.dimension;
  const std::int64_t n = options.context;
  const std::int64_t h = options.distortion_hidden;
  if (!(d >= 1 && n >= 1 && h >= 0)) {
    throw PreconditionError(fmt::format(
        "LinearRegression: dimension and context must be at least 1 and distortion_hidden at least "
        "0, got {}, {} and {}",
        d,
        n,
        h));
  }
  if (options.covariates == Covariates::kGamma &&
      !(is_positive(options.gamma_shape) && is_positive(options.gamma_scale))) {
    throw PreconditionError(fmt::format(
        "LinearRegression: gamma_shape and gamma_scale must be positive and finite, got {} and {}",
        options.gamma_shape,
        options.gamma_scale));
  }
  add_array("Z", {d + 1, n + 1});
  add_array("target", {});
  if (h > 0) {
    RandomStream random(options.distortion_seed, Stream::kTask, 0);
    hidden_weight_ = uniform_entries(random, h, d, d);
    hidden_bias_ = uniform_entries(random, h, 1, d);
    output_weight_ = uniform_entries(random, d, h, h);
    output_bias_ = uniform_entries(random, d, 1, h);
  }
}

void LinearRegression::draw_tokens(RandomStream& random, Eigen::Map<RowMajor> tokens) const {
  random.normal({tokens.data(), static_cast<std::size_t>(tokens.size())});
  switch (options_.covariates) {
    case Covariates::kGaussian:
      break;
    case Covariates::kSphere:
      tokens.colwise().normalize();
      break;
    case Covariates::kGamma:
      tokens.colwise().normalize();
      for (Eigen::Index j = 0; j < tokens.cols(); ++j) {
        tokens.col(j) *= std::sqrt(random.gamma(options_.gamma_shape, options_.gamma_scale));
      }
      break;
    case Covariates::kOrthogonal:
      orthonormalize(tokens);
      tokens *= std::sqrt(static_cast<double>(options_.dimension));
      break;
  }
}

void LinearRegression::draw(std::uint64_t seed,
                            Stream stream,
                            std::uint64_t index,
                            std::span<double> record) const {
  detail::require_record(*this, record);
  const Eigen::Index d = options_.dimension;
  const Eigen::Index n = options_.context;
  RandomStream random(seed, stream, index);
  // Z row by row: its first d rows are the tokens, the last one their labels.
  const Eigen::Map<RowMajor> tokens(record.data(), d, n + 1);
  Eigen::Map<Eigen::RowVectorXd> labels(record.data() + d * (n + 1), n + 1);
  draw_tokens(random, tokens);
  double& target = record.back();
  labels.setZero();
  if (options_.distortion_hidden == 0) {
    for (Eigen::Index i = 0; i < d; ++i) labels += random.normal() * tokens.row(i);
  } else {
    Eigen::VectorXd w(d);
    random.normal({w.data(), static_cast<std::size_t>(d)});
    // <w, A_2 relu(...) + b_2> = <A_2^T w, relu(...)> + <w, b_2>
    const Eigen::VectorXd v = output_weight_.transpose() * w;
    const Eigen::MatrixXd activation =
        ((hidden_weight_ * tokens).colwise() + hidden_bias_).cwiseMax(0.0);
    labels = v.transpose() * activation;
    labels.array() += w.dot(output_bias_);
  }
  target = labels[n];
  labels[n] = 0;
}

CovariateMoments covariate_moments(const LinearRegressionOptions& options) {
  const auto d = static_cast<double>(options.dimension);
  switch (options.covariates) {
    case Covariates::kGaussian:
      return {d, d * (d + 2)};
    case Covariates::kSphere:
      return {1, 1};
    case Covariates::kGamma: {
      const double k = options.gamma_shape;
      const double theta = options.gamma_scale;
      return {k * theta, k * (k + 1) * theta * theta};
    }
    case Covariates::kOrthogonal:
      return {d, d * d};
  }
  throw PreconditionError("covariate_moments: unknown law");
}

std::vector<SettingKey> covariate_keys(std::vector<std::string> laws) {
  return {{.name = "covariates",
           .meaning = "the distribution of the tokens",
           .choices = std::move(laws),
           .fallback = SettingValue(std::string("gaussian"))},
          {.name = "gamma_shape",
           .type = SettingKey::Type::kReal,
           .meaning = "k of Gamma(k, theta), the distribution of ||x||^2",
           .range = kPositive,
           .is_optional = true},
          {.name = "gamma_scale",
           .type = SettingKey::Type::kReal,
           .meaning = "theta of Gamma(k, theta), the distribution of ||x||^2",
           .range = kPositive,
           .is_optional = true}};
}

void read_covariates(const Settings& settings, LinearRegressionOptions& options) {
  const std::string& law = settings.text("covariates");
  options.covariates = law == "gaussian" ? Covariates::kGaussian
                       : law == "sphere" ? Covariates::kSphere
                       : law == "gamma"  ? Covariates::kGamma
                                         : Covariates::kOrthogonal;
  detail::require_keys(settings,
                       {"gamma_shape", "gamma_scale"},
                       law == "gamma",
                       fmt::format("covariates = \"{}\"", law));
  if (law == "gamma") {
    options.gamma_shape = settings.real("gamma_shape");
    options.gamma_scale = settings.real("gamma_scale");
  }
}

namespace {

// In the order in which they are listed.
std::vector<SettingKey> keys_of_data() {
  std::vector<SettingKey> keys = {
      size_key("dimension", "d, the dimension of a token", 10000),
      size_key("context", "n, the number of examples before the query", 1000000)};
  const std::vector<SettingKey> law = covariate_keys({"gaussian", "sphere", "gamma", "orthogonal"});
  keys.insert(keys.end(), law.begin(), law.end());
  keys.push_back(
      {.name = "distortion_hidden",
       .type = SettingKey::Type::kInteger,
       .meaning = "hidden width of a fixed random MLP that distorts the targets; 0: none",
       .minimum = 0,
       .maximum = 100000,
       .fallback = SettingValue(std::int64_t{0})});
  keys.push_back(detail::seed_key("distortion_seed", "seed of that MLP"));
  return keys;
}

}  // namespace

SamplerKind linear_regression_kind() {
  return {
      .name = "linear-regression",
      .summary = "prompts of in-context linear regression",
      .keys = keys_of_data(),
      .create =
          [](const Settings& settings, const std::filesystem::path& /*folder*/) {
            LinearRegressionOptions options = {
                .dimension = settings.integer("dimension"),
                .context = settings.integer("context"),
                .distortion_hidden = settings.integer("distortion_hidden"),
                .distortion_seed = detail::seed_from(settings, "distortion_seed"),
            };
            read_covariates(settings, options);
            return std::make_unique<LinearRegression>(options);
          },
  };
}

}  // namespace hesscope
