// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <hesscope/analyzers/density.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/core/constants.h>
#include <hesscope/spectra/distribution_distance.h>
#include <hesscope/spectra/lanczos_quadrature.h>
#include <hesscope/spectra/spectral_density.h>

namespace hesscope {
namespace {

constexpr Eigen::Index kNumPoints = 2000;

// The probes' quadrature rules, given as columns, as rows; padded if even the longest rule ended
// early.
Eigen::MatrixXd rows_of(const Eigen::MatrixXd& rules, Eigen::Index num_nodes, double filling) {
  Eigen::MatrixXd rows = Eigen::MatrixXd::Constant(rules.cols(), num_nodes, filling);
  rows.leftCols(rules.rows()) = rules.transpose();
  return rows;
}

class DensityAnalyzer final : public Analyzer {
 public:
  DensityAnalyzer(Eigen::Index num_probes, Eigen::Index num_steps)
      : num_probes_(num_probes), num_steps_(num_steps) {}

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    const Eigen::Index n = objective.num_parameters();
    return {{"probe", std::min(num_probes_, n)},
            {"node", std::min(num_steps_, n)},
            {"point", kNumPoints}};
  }

  Cost cost(const Objective& objective) const override {
    const auto n = static_cast<double>(objective.num_parameters());
    const auto probes = static_cast<double>(std::min(num_probes_, objective.num_parameters()));
    const auto steps = static_cast<double>(std::min(num_steps_, objective.num_parameters()));
    return {.asks_hessian = true,
            .asks_spectrum = true,
            .numbers = n * probes * steps,
            .products = probes * steps,
            .operations = 4 * n * probes * steps * steps,
            .matrix_operations = 0.4 * n * n * probes * steps};
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    if (point.hessian() == nullptr && point.hessian_status() != Status::kNotComputed) {
      answer.set_rest_missing(point.hessian_status());
      return answer;
    }
    const LanczosQuadrature found = lanczos_quadrature(
        point.hessian_operator(),
        {.num_probes = num_probes_, .num_steps = num_steps_, .seed = point.seed()},
        point.progress());
    if (found.status != Status::kOk) {
      answer.set_rest_missing(found.status);
      return answer;
    }
    const Eigen::Index num_nodes = std::min(num_steps_, point.objective().num_parameters());
    answer[nodes_].set_rows(rows_of(found.nodes, num_nodes, kNaN), Status::kOk);
    answer[weights_].set_rows(rows_of(found.weights, num_nodes, 0.0));
    answer[calibrated_weights_].set_rows(rows_of(found.calibrated_weights, num_nodes, 0.0));
    set_estimate(answer, trace_, found.trace);
    if (num_nodes < 2 && point.objective().num_parameters() > 1) {
      // A rule of one node is exact for v^T H v, but not for v^T H^2 v.
      answer[squared_frobenius_norm_.value].set_missing(Status::kNotComputed);
      answer[squared_frobenius_norm_.standard_error].set_missing(Status::kNotComputed);
    } else {
      set_estimate(answer, squared_frobenius_norm_, found.squared_frobenius_norm);
    }
    draw(point.spectrum(), found.measure, answer);
    answer.set_rest_missing(Status::kNotComputed);
    return answer;
  }

 private:
  // A number by quadrature; in the summary, its error follows it.
  struct Estimate {
    VariableId value;
    VariableId standard_error;
  };

  Estimate declare_estimate(const Variable& value, const std::string& standard_error) {
    return {declare(value),
            declare({.name = standard_error,
                     .long_name = "standard error of " + value.name,
                     .definition = "standard deviation over probes of the number that is averaged, "
                                   "with the number of probes minus 1 in the denominator, over the "
                                   "square root of the number of probes; 0 for as many probes as "
                                   "parameters, or more: they are then the unit vectors, and the "
                                   "number is exact to rounding",
                     .headline = value.headline > 0 ? value.headline + 1 : 0})};
  }

  static void set_estimate(Group& answer, const Estimate& estimate, const ProbeEstimate& found) {
    answer[estimate.value].set(found.value);
    const bool is_of_one_probe = std::isnan(found.standard_error) && !std::isnan(found.value);
    if (is_of_one_probe) {
      answer[estimate.standard_error].set_missing(Status::kNotComputed);
    } else {
      answer[estimate.standard_error].set(found.standard_error);
    }
  }

  void draw(const Spectrum& spectrum, const SpectralMeasure& measure, Group& answer) const {
    const bool is_exact = spectrum.status == Status::kOk && spectrum.eigenvalues.size() > 0;
    const SpectralMeasure exact = is_exact ? exact_measure(spectrum.eigenvalues) : measure;
    const SpectralDensity curve = spectral_density(exact, {.num_points = kNumPoints});
    answer[eigenvalue_].set(curve.at);
    answer[sigma_].set(curve.sigma);
    const SpectralDensity estimate = spectral_density(measure,
                                                      {.sigma = curve.sigma,
                                                       .lower = curve.at[0],
                                                       .upper = curve.at[kNumPoints - 1],
                                                       .num_points = kNumPoints});
    answer[density_].set(estimate.values);
    const double band = spectrum.status == Status::kOk ? spectrum.rounding_band : 0.0;
    const LogSpectralDensity decades =
        log_spectral_density(exact, band, {.num_points = kNumPoints});
    answer[log10_magnitude_].set(decades.log10_magnitude);
    answer[log_density_negative_].set(decades.negative);
    answer[log_density_positive_].set(decades.positive);
    answer[zero_mass_].set(decades.zero_mass);
    if (!is_exact) return;
    answer[exact_density_].set(curve.values);
    const double distance = wasserstein_distance(measure, exact);
    const double width = spectrum.largest.value - spectrum.smallest.value;
    answer[wasserstein_distance_].set(distance);
    answer[relative_wasserstein_distance_].set(
        distance / width, width > band ? Status::kOk : Status::kUndefinedZeroDenominator);
  }

  Eigen::Index num_probes_;
  Eigen::Index num_steps_;
  VariableId nodes_ = declare(
      {.name = "nodes",
       .dimensions = {"probe", "node"},
       .long_name = "nodes of Lanczos quadrature",
       .definition = "Ritz values of each probe, ascending; NaN beyond the end of its Krylov space",
       .references = {papers::kGolub, papers::kUbaru, papers::kGhorbani}});
  VariableId weights_ =
      declare({.name = "weights",
               .dimensions = {"probe", "node"},
               .long_name = "weights of Lanczos quadrature",
               .definition = "squared first entries of the eigenvectors of the tridiagonal matrix",
               .references = {papers::kGolub, papers::kUbaru, papers::kGhorbani}});
  VariableId calibrated_weights_ =
      declare({.name = "calibrated_weights",
               .dimensions = {"probe", "node"},
               .long_name = "weights corrected for eigenvalues of known multiplicity",
               .definition = "multiplicity / n for an eigenvalue that all probes found and whose "
                             "multiplicity was counted; the others are scaled to fill the rest",
               .references = {papers::kBhattacharjee}});
  Estimate trace_ = declare_estimate(
      {.name = "trace_estimate",
       .long_name = "trace by quadrature",
       .definition = "n times the mean over probes of the sum of calibrated_weights times nodes",
       .references = {papers::kUbaru},
       .headline = 1},
      "trace_standard_error");
  Estimate squared_frobenius_norm_ = declare_estimate(
      {.name = "squared_frobenius_norm_estimate",
       .long_name = "squared Frobenius norm by quadrature",
       .definition =
           "n times the mean over probes of the sum of calibrated_weights times squared nodes; not "
           "computed for one Lanczos step, after which that is not yet v^T H^2 v of a probe v",
       .references = {papers::kUbaru}},
      "squared_frobenius_norm_standard_error");
  VariableId eigenvalue_ =
      declare({.name = "eigenvalue",
               .dimensions = {"point"},
               .long_name = "grid of the densities",
               .definition = "equally spaced, extending 8 sigma beyond the outermost eigenvalues "
                             "if all of them are known, otherwise beyond the outermost nodes"});
  VariableId sigma_ = declare(
      {.name = "sigma",
       .long_name = "width of the smoothing",
       .definition =
           "standard deviation of the Gaussian: 1 % of the spectral width or of a thousandth of "
           "the largest magnitude, whichever is more; 0.01 if there are only zeros"});
  VariableId density_ = declare(
      {.name = "density",
       .dimensions = {"point"},
       .long_name = "spectral density by quadrature",
       .definition = "calibrated rules smoothed by a Gaussian of width sigma; its integral is 1",
       .references = {papers::kGhorbani, papers::kLin}});
  VariableId exact_density_ =
      declare({.name = "exact_density",
               .dimensions = {"point"},
               .long_name = "spectral density of the exact spectrum",
               .definition = "eigenvalues smoothed by a Gaussian of width sigma; its integral is 1",
               .references = {papers::kLin}});
  VariableId log10_magnitude_ = declare({.name = "log10_magnitude",
                                         .dimensions = {"point"},
                                         .long_name = "grid of the densities over decades",
                                         .definition = "log10 |lambda|, equally spaced"});
  VariableId log_density_negative_ =
      declare({.name = "log_density_negative",
               .dimensions = {"point"},
               .long_name = "density of negative eigenvalues per decade",
               .definition = "smoothed by a Gaussian of 0.1 decades; of the exact spectrum if it "
                             "is known, otherwise by quadrature"});
  VariableId log_density_positive_ =
      declare({.name = "log_density_positive",
               .dimensions = {"point"},
               .long_name = "density of positive eigenvalues per decade",
               .definition = "as log_density_negative"});
  VariableId zero_mass_ =
      declare({.name = "zero_mass",
               .long_name = "fraction of zero eigenvalues",
               .definition = "weight of magnitudes within the rounding band: of the eigenvalues if "
                             "all are known, otherwise of the nodes, which may lie beside a zero; "
                             "with the integrals of the two densities per decade it adds up to 1"});
  VariableId wasserstein_distance_ =
      declare({.name = "wasserstein_distance",
               .long_name = "distance of the quadrature from the exact spectrum",
               .definition = "Wasserstein-1 distance, in the unit of the eigenvalues, from the "
                             "distribution with weight 1/n at each eigenvalue to the mean over "
                             "probes of those with calibrated_weights at nodes",
               .references = {papers::kVallender}});
  VariableId relative_wasserstein_distance_ =
      declare({.name = "relative_wasserstein_distance",
               .long_name = "wasserstein_distance over the spectral width",
               .definition = "wasserstein_distance over lambda_max - lambda_min; undefined where "
                             "the latter is within the rounding band",
               .references = {papers::kVallender},
               .undefined = {Status::kUndefinedZeroDenominator},
               .headline = 3});
};

SettingKey count_key(const std::string& name, std::int64_t fallback, const std::string& meaning) {
  return {.name = name,
          .type = SettingKey::Type::kInteger,
          .meaning = meaning,
          .minimum = 1,
          .maximum = 100'000,
          .fallback = SettingValue(fallback)};
}

}  // namespace

AnalyzerKind density_analyzer() {
  return {.name = "density",
          .question = "the distribution of the eigenvalues, by stochastic Lanczos quadrature",
          .by_default = false,
          .on_missing = "distances need all eigenvalues (`method` dense)",
          .options = {count_key("probes", 10, "how many random vectors to start from"),
                      count_key("lanczos-steps", 100, "Lanczos steps from each random vector")},
          .create = [](const Settings& settings) {
            return std::make_unique<DensityAnalyzer>(settings.integer("probes"),
                                                     settings.integer("lanczos-steps"));
          }};
}

}  // namespace hesscope
