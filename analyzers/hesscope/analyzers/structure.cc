// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <hesscope/analyzers/structure.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/spectra/condition_numbers.h>
#include <hesscope/spectra/zero_modes.h>

namespace hesscope {
namespace {

// eps times the mean norm of the samples' gradients: the error of a mean in which they cancel.
double gradient_error(const Objective& objective, const Eigen::VectorXd& theta) {
  constexpr Eigen::Index kSamples = 256;
  double sum = 0;
  for (Eigen::Index first = 0; first < objective.num_samples(); first += kSamples) {
    const SampleRange range = {first, std::min(first + kSamples, objective.num_samples())};
    const Eigen::MatrixXd gradients = objective.per_sample_gradients(theta, range);
    for (const auto gradient : gradients.colwise()) sum += detail::norm(gradient);
  }
  return std::numeric_limits<double>::epsilon() * sum /
         static_cast<double>(objective.num_samples());
}

class StructureAnalyzer final : public Analyzer {
 public:
  StructureAnalyzer() { declare_all(quantities(), headline()); }

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    std::vector<std::string> names;
    for (const Invariance& invariance : objective.invariances()) names.push_back(invariance.name);
    if (names.empty()) names.emplace_back("none");  // netCDF knows no dimension of size 0
    const auto size = static_cast<std::int64_t>(names.size());
    return {{.name = "invariance",
             .size = size,
             .labels = std::move(names),
             .definition = "families of the model's invariances"}};
  }

  std::vector<Variable> quantities() const {
    return {
        {.name = "num_dead",
         .type = VariableType::kInt64,
         .long_name = "number of dead parameters",
         .definition = "rows of the Hessian that are identically zero"},
        {.name = "num_explained",
         .type = VariableType::kInt64,
         .long_name = "number of explained zero eigenvalues",
         .definition = "dimension of the space spanned by the dead parameters and by those "
                       "generators of invariances, and combinations of them, that the gradient "
                       "makes null vectors of the Hessian"},
        {.name = "num_unexplained",
         .type = VariableType::kInt64,
         .long_name = "number of unexplained zero eigenvalues",
         .definition = "zero eigenvalues (/spectrum/num_zero) less num_explained"},
        {.name = "num_unconfirmed",
         .type = VariableType::kInt64,
         .long_name = "number of predicted null vectors that the Hessian refutes",
         .definition = "0 unless the model's invariances are stated wrongly"},
        {.name = "dead",
         .dimensions = {"parameter"},
         .long_name = "dead parameters",
         .definition = "1 where the row of the Hessian is identically zero, 0 elsewhere"},
        {.name = "num_generators",
         .dimensions = {"invariance"},
         .long_name = "generators of each family of invariances",
         .definition = "one-parameter groups of affine maps that leave the loss as it is"},
        {.name = "explained",
         .dimensions = {"invariance"},
         .long_name = "zero eigenvalues explained by each family of invariances",
         .definition = "beyond the dead parameters and the families before it"},
        {.name = "flatness_bound",
         .dimensions = {"invariance"},
         .long_name = "how far from zero a family's eigenvalues can be",
         .definition = "largest ||B^T g|| / ||u|| over its generators u = B theta + b: an "
                       "eigenvalue is within that of zero; NaN where it moves no live parameter"},
        {.name = "median_without_explained",
         .long_name = "lower median eigenvalue without the explained zeros",
         .definition = "of the eigenvalues without the num_explained ones nearest to zero"},
        {.name = "median_magnitude_without_explained",
         .long_name = "lower median of eigenvalue magnitudes without the explained zeros",
         .definition = "of |lambda| without the num_explained smallest"},
        {.name = "robust_eigenvalue_without_explained",
         .long_name = "robust condition number without the explained zeros",
         .definition = "lambda_max over median_without_explained"},
        {.name = "robust_absolute_without_explained",
         .long_name = "robust condition number of magnitudes without the explained zeros",
         .definition = "largest |lambda| over median_magnitude_without_explained"},
    };
  }

  std::vector<std::string> headline() const {
    return {"num_dead", "num_explained", "num_unexplained", "robust_eigenvalue_without_explained"};
  }

  Cost cost(const Objective& /*objective*/) const override {
    return {.asks_hessian = true, .asks_spectrum = true, .sample_gradients = 1};
  }

  Group analyze(PointAnalysis& point) const override {
    Group record = declared();
    const Eigen::MatrixXd* h = point.hessian();
    const Spectrum& spectrum = point.spectrum();
    if (h != nullptr && spectrum.status == Status::kOk) {
      describe(point, *h, spectrum, record);
    } else {
      record.set_rest_missing(h == nullptr ? point.hessian_status() : spectrum.status);
    }
    return record;
  }

 private:
  void describe(PointAnalysis& point,
                const Eigen::MatrixXd& h,
                const Spectrum& spectrum,
                Group& record) const {
    const Objective& objective = point.objective();
    const ZeroModes modes =
        explain_zero_modes(point.theta(),
                           point.gradient(),
                           objective.invariances(),
                           h,
                           spectrum,
                           {.gradient_error = gradient_error(objective, point.theta())});
    if (modes.num_dead >= 0) record["num_dead"].set_count(modes.num_dead);
    record["dead"].set(
        (h.cwiseAbs().colwise().maxCoeff().array() == 0).cast<double>().transpose().matrix());
    if (modes.num_unconfirmed >= 0) record["num_unconfirmed"].set_count(modes.num_unconfirmed);
    if (modes.status == Status::kOk) {
      record["num_explained"].set_count(modes.num_explained);
      record["num_unexplained"].set_count(modes.num_unexplained);
      set_families(modes.families, record);
      set_medians(modes, spectrum, record);
    }
    record.set_rest_missing(modes.status);
  }

  static void set_families(const std::vector<ZeroModesOfFamily>& families, Group& record) {
    const auto size = std::max<Eigen::Index>(1, static_cast<Eigen::Index>(families.size()));
    Eigen::MatrixXd numbers = Eigen::MatrixXd::Zero(size, 3);
    for (std::size_t i = 0; i < families.size(); ++i) {
      numbers.row(static_cast<Eigen::Index>(i)) << static_cast<double>(families[i].num_generators),
          static_cast<double>(families[i].num_explained), families[i].flatness_bound;
    }
    record["num_generators"].set(numbers.col(0));
    record["explained"].set(numbers.col(1));
    record["flatness_bound"].set_rows(numbers.col(2), Status::kOk);
  }

  static void set_medians(const ZeroModes& modes, const Spectrum& spectrum, Group& record) {
    const double median = modes.median_without_explained;
    const double magnitude = modes.median_magnitude_without_explained;
    if (std::isnan(median) || std::isnan(magnitude)) {  // the eigenvalues between are not known
      record["median_without_explained"].set_missing(Status::kNotComputed);
      record["median_magnitude_without_explained"].set_missing(Status::kNotComputed);
      record["robust_eigenvalue_without_explained"].set_missing(Status::kNotComputed);
      record["robust_absolute_without_explained"].set_missing(Status::kNotComputed);
      return;
    }
    record["median_without_explained"].set(median);
    record["median_magnitude_without_explained"].set(magnitude);
    Spectrum without = spectrum;
    without.median.value = median;
    without.median_magnitude = magnitude;
    const ConditionNumbers numbers =
        condition_numbers(Eigen::VectorXd::Ones(1), without);  // of the eigenvalues alone
    record["robust_eigenvalue_without_explained"].set(numbers.robust_eigenvalue.value,
                                                      numbers.robust_eigenvalue.status);
    record["robust_absolute_without_explained"].set(numbers.robust_absolute.value,
                                                    numbers.robust_absolute.status);
  }
};

}  // namespace

AnalyzerKind structure_analyzer() {
  return {
      .name = "structure",
      .question = "which zero eigenvalues follow from dead parameters or symmetries of the model",
      .by_default = true,
      .on_missing =
          "counts take the matrix (`method` dense or iterative), medians all eigenvalues "
          "(`method` dense)",
      .options = {},
      .create = [](const Settings&) { return std::make_unique<StructureAnalyzer>(); }};
}

}  // namespace hesscope
