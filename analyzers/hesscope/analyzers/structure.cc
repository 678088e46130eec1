// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analyzers/internal/explained_zeros.h>
#include <hesscope/analyzers/structure.h>
#include <hesscope/core/constants.h>
#include <hesscope/objective/flat_directions.h>
#include <hesscope/objective/gradient_blocks.h>
#include <hesscope/spectra/condition_numbers.h>
#include <hesscope/spectra/zero_modes.h>

namespace hesscope {
namespace {

class StructureAnalyzer final : public Analyzer {
 public:
  std::vector<Dimension> dimensions(const Objective& objective) const override {
    std::vector<std::string> names;
    for (const Invariance& invariance : objective.invariances()) names.push_back(invariance.name);
    if (detail::searches_flat_directions(objective)) names.emplace_back(kFlatDirectionsName);
    if (names.empty()) names.emplace_back("none");  // netCDF has no dimensions of size 0
    const auto size = static_cast<std::int64_t>(names.size());
    return {{.name = "invariance",
             .size = size,
             .labels = std::move(names),
             .definition = "families of the model's invariances"}};
  }

  // Averages of batch normalization with special values have invariances of their own, for example
  // means of 0.
  bool has_own_dimensions() const override { return true; }

  Group spread(Group answer, const std::vector<Dimension>& all) const override {
    const std::vector<std::string>& own = answer.dimensions.front().labels;
    const std::vector<std::string>& labels = all.front().labels;
    if (own == labels) return answer;
    const auto at = [&](const std::string& label) {
      return std::size_t(std::ranges::find(labels, label) - labels.begin());
    };
    // For families that the objective does not have: no generators, which explain nothing.
    for (const auto& [id, absent] : {std::pair(num_generators_, 0.0),
                                     std::pair(explained_, 0.0),
                                     std::pair(flatness_bound_, kNaN),
                                     std::pair(unconfirmed_, 0.0),
                                     std::pair(refutation_, 0.0),
                                     std::pair(confirmation_bound_, 0.0),
                                     std::pair(refuted_parameter_, kNaN)}) {
      const std::vector<double> values = answer[id].numbers();
      if (values.empty()) continue;
      std::vector<double> spread(labels.size(), absent);
      for (std::size_t i = 0; i < values.size(); ++i) spread[at(own[i])] = values[i];
      answer[id].set_numbers(std::move(spread), answer[id].statuses);
    }
    answer.dimensions = all;
    return answer;
  }

  std::string reason_of_failure(const Group& answer,
                                std::span<const ParameterBlock> blocks) const override {
    std::vector<std::string> reasons;
    const std::vector<double> counts = answer[unconfirmed_].numbers();
    const std::vector<double> refutations = answer[refutation_].numbers();
    const std::vector<double> bounds = answer[confirmation_bound_].numbers();
    const std::vector<double> parameters = answer[refuted_parameter_].numbers();
    for (std::size_t f = 0; f < counts.size(); ++f) {
      if (!(counts[f] > 0)) continue;
      const auto block = std::ranges::find_if(blocks, [&](const ParameterBlock& each) {
        return parameters[f] < static_cast<double>(each.offset + each.size);
      });
      reasons.push_back(
          fmt::format("the Hessian refutes {} null vector{} v that '{}' predicts: |H v| / |v| is "
                      "up to {:.2g}, with v largest in {}, and would be at most {:.2g} by rounding",
                      counts[f],
                      counts[f] == 1 ? "" : "s",
                      answer.dimensions.front().labels[f],
                      refutations[f],
                      block->name,
                      bounds[f]));
    }
    if (reasons.empty()) return {};
    return fmt::format(
        "{}. The model does not have that invariance, or, where the two are near, the Hessian is "
        "less exact than its rounding band",
        fmt::join(reasons, "; "));
  }

  Cost cost(const Objective& objective) const override {
    return {
        .asks_hessian = true,
        .asks_spectrum = true,
        .numbers = static_cast<double>(gradient_block_size(objective) * objective.num_parameters()),
        .gradients = 3,  // a product with a Hessian
        .sample_gradients = 1};
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    answer.dimensions = dimensions(point.objective());
    const Eigen::MatrixXd* h = point.hessian();
    const Spectrum& spectrum = point.spectrum();
    if (h != nullptr && spectrum.status == Status::kOk) {
      describe(point, *h, spectrum, answer);
    } else {
      answer.set_rest_missing(h == nullptr ? point.hessian_status() : spectrum.status);
    }
    return answer;
  }

 private:
  void describe(PointAnalysis& point,
                const Eigen::MatrixXd& h,
                const Spectrum& spectrum,
                Group& answer) const {
    const ZeroModes modes = detail::explained_zeros(
        point,
        h,
        spectrum,
        {.gradient_error = detail::gradient_error(
             detail::mean_sample_gradient(point.objective(), point.theta()))});
    if (modes.num_dead >= 0) answer[num_dead_].set_count(modes.num_dead);
    if (modes.num_dead >= 0) answer[dead_].set(modes.dead);
    if (modes.num_unconfirmed >= 0) answer[num_unconfirmed_].set_count(modes.num_unconfirmed);
    if (modes.num_unconfirmed >= 0) set_refutations(modes.families, answer);
    if (modes.status == Status::kOk) {
      answer[num_explained_].set_count(modes.num_explained);
      answer[num_unexplained_].set_count(modes.num_unexplained);
      set_families(modes.families, answer);
      set_medians(modes, spectrum, h.rows(), answer);
    }
    answer.set_rest_missing(modes.status);
  }

  void set_families(const std::vector<ZeroModesOfFamily>& families, Group& answer) const {
    const auto size = std::max<Eigen::Index>(1, static_cast<Eigen::Index>(families.size()));
    Eigen::MatrixXd numbers = Eigen::MatrixXd::Zero(size, 3);
    if (families.empty()) numbers(0, 2) = kNaN;  // there is no family
    for (std::size_t i = 0; i < families.size(); ++i) {
      numbers.row(static_cast<Eigen::Index>(i)) << static_cast<double>(families[i].num_generators),
          static_cast<double>(families[i].num_explained), families[i].flatness_bound;
    }
    answer[num_generators_].set(numbers.col(0));
    answer[explained_].set(numbers.col(1));
    answer[flatness_bound_].set_rows(numbers.col(2), Status::kOk);
  }

  void set_refutations(const std::vector<ZeroModesOfFamily>& families, Group& answer) const {
    const std::size_t size = std::max<std::size_t>(1, families.size());
    std::vector<double> counts(size, 0.0);
    std::vector<double> refutations(size, 0.0);
    std::vector<double> bounds(size, 0.0);
    std::vector<double> parameters(size, kNaN);
    for (std::size_t f = 0; f < families.size(); ++f) {
      counts[f] = static_cast<double>(families[f].num_unconfirmed);
      if (families[f].num_unconfirmed <= 0) continue;
      refutations[f] = families[f].refutation;
      bounds[f] = families[f].confirmation_bound;
      parameters[f] = static_cast<double>(families[f].refuted_parameter);
    }
    answer[unconfirmed_].set_numbers(std::move(counts), {Status::kOk});
    answer[refutation_].set_numbers(std::move(refutations), {Status::kOk});
    answer[confirmation_bound_].set_numbers(std::move(bounds), {Status::kOk});
    answer[refuted_parameter_].set_numbers(std::move(parameters), {Status::kOk});
  }

  // `n`: the number of eigenvalues.
  void set_medians(const ZeroModes& modes,
                   const Spectrum& spectrum,
                   Eigen::Index n,
                   Group& answer) const {
    const double median = modes.median_without_explained;
    const double magnitude = modes.median_magnitude_without_explained;
    if (std::isnan(median) || std::isnan(magnitude)) {
      // Either none is left, or those between the ends are not known.
      const Status why =
          modes.num_explained < n ? Status::kNotComputed : Status::kUndefinedTooFewPoints;
      for (const VariableId id :
           {median_, median_magnitude_, robust_eigenvalue_, robust_absolute_}) {
        answer[id].set_missing(why);
      }
      return;
    }
    answer[median_].set(median);
    answer[median_magnitude_].set(magnitude);
    const double largest_magnitude = spectrum.norm();
    const double band = spectrum.rounding_band;
    answer[robust_eigenvalue_].set(robust_ratio(spectrum.largest.value, median, band));
    answer[robust_absolute_].set(robust_ratio(largest_magnitude, magnitude, band));
  }

  VariableId num_dead_ =
      declare({.name = "num_dead",
               .type = VariableType::kInt64,
               .long_name = "number of dead parameters",
               .definition = "rows of the Hessian that are identically zero here and, to rounding, "
                             "also at the nearby point described under `dead`",
               .headline = 1});
  VariableId num_explained_ = declare(
      {.name = "num_explained",
       .type = VariableType::kInt64,
       .long_name = "number of explained zero eigenvalues",
       .definition = fmt::format(
           "dimension of the space spanned by the dead parameters; by those generators of "
           "invariances, and combinations of them, that are null vectors of the Hessian with "
           "this gradient; and by null vectors along which the loss of no sample, from the "
           "data or random, changes to first order. The latter are looked for only in imported "
           "models that state no invariances, not in built-in ones, and without weight_decay, "
           "with at most {} parameters, and not where more directions are flat than nearby, as "
           "where weights are 0",
           FlatDirectionsOptions().max_parameters),
       .headline = 2});
  VariableId num_unexplained_ = declare(
      {.name = "num_unexplained",
       .type = VariableType::kInt64,
       .long_name = "number of unexplained zero eigenvalues",
       .definition = "zero eigenvalues (/spectrum/num_zero) minus num_explained, at least 0",
       .headline = 3});
  VariableId num_unconfirmed_ = declare(
      {.name = "num_unconfirmed",
       .type = VariableType::kInt64,
       .long_name = "number of predicted null vectors that the Hessian refutes",
       .definition = "0 unless the model's invariances are stated wrongly, or H is less exact than "
                     "/spectrum/rounding_band"});
  VariableId dead_ = declare(
      {.name = "dead",
       .dimensions = {"parameter"},
       .long_name = "dead parameters",
       .definition =
           "1 where the row of H(theta) is identically zero and the same row of H(theta + p) is "
           "zero to rounding: |(H(theta + p) x)_i| is at most 16 eps |H(theta + p) x| for a "
           "standard normal x; 0 elsewhere, so also where the loss rises or falls only by terms of "
           "third or higher order, or where H(theta + p) x is not finite. p_i is normal with "
           "standard deviation 1e-3 s_i, where s_i is the root mean square of the parameter's "
           "tensor or, if that is at most 1e-8 of the root mean square of all parameters, the "
           "latter, or 1 if the latter is itself at most 1e-8"});
  VariableId num_generators_ = declare(
      {.name = "num_generators",
       .dimensions = {"invariance"},
       .long_name = "generators of each family of invariances",
       .definition = "number of one-parameter groups of affine maps that leave the loss unchanged; "
                     "if the groups were found from gradients at random points and the Hessian "
                     "refutes one, only those along which no sample's loss has a slope here"});
  VariableId explained_ =
      declare({.name = "explained",
               .dimensions = {"invariance"},
               .long_name = "zero eigenvalues explained by each family of invariances",
               .definition = "in addition to the dead parameters and the preceding families"});
  VariableId flatness_bound_ =
      declare({.name = "flatness_bound",
               .dimensions = {"invariance"},
               .long_name = "how far from zero a family's eigenvalues can be",
               .definition = "largest ||B^T g|| / ||u|| over the family's generators u = B theta + "
                             "b, each of which guarantees an eigenvalue within its own ratio of "
                             "zero; NaN where the family moves no live parameter; for directions "
                             "that are flat for all samples, the largest ||H v|| with |v| = 1"});
  VariableId unconfirmed_ = declare(
      {.name = "unconfirmed",
       .dimensions = {"invariance"},
       .long_name = "null vectors predicted by each family that the Hessian refutes",
       .definition = "in addition to those of the preceding families; part of num_unconfirmed"});
  VariableId refutation_ =
      declare({.name = "refutation",
               .dimensions = {"invariance"},
               .long_name = "how far the Hessian refutes a family's null vectors",
               .definition = "largest ||H v|| over the family's unconfirmed vectors v with |v| = "
                             "1; 0 if there are none"});
  VariableId confirmation_bound_ = declare(
      {.name = "confirmation_bound",
       .dimensions = {"invariance"},
       .long_name = "largest refutation that rounding alone can cause",
       .definition =
           "2 (b (1 + ||c||_1 / (n + 10)) + e sum_k |c_k| ||B_k||_F / ||u_k||), the largest over v "
           "= sum_k c_k u_k / ||u_k||, with the rounding band b of the spectrum and the error e of "
           "the gradient, plus 4 times the change in H v, for the v of refutation, that rounding "
           "of the parameters causes; 0 where refutation is 0"});
  VariableId refuted_parameter_ =
      declare({.name = "refuted_parameter",
               .type = VariableType::kInt64,
               .dimensions = {"invariance"},
               .long_name = "where a refuted null vector lies",
               .definition = "index, from 0, of the parameter with the entry of largest magnitude "
                             "in the v of refutation"});
  VariableId median_ =
      declare({.name = "median_without_explained",
               .long_name = "lower median eigenvalue without the explained zeros",
               .definition =
                   "lower median of the eigenvalues without the num_explained ones nearest to zero",
               .undefined = {Status::kUndefinedTooFewPoints}});
  VariableId median_magnitude_ =
      declare({.name = "median_magnitude_without_explained",
               .long_name = "lower median of eigenvalue magnitudes without the explained zeros",
               .definition = "lower median of |lambda| without the num_explained smallest ones",
               .undefined = {Status::kUndefinedTooFewPoints}});
  VariableId robust_eigenvalue_ =
      declare({.name = "robust_eigenvalue_without_explained",
               .long_name = "robust condition number without the explained zeros",
               .definition = "lambda_max over median_without_explained",
               .undefined = {Status::kUndefinedZeroMedian, Status::kUndefinedTooFewPoints},
               .headline = 4});
  VariableId robust_absolute_ =
      declare({.name = "robust_absolute_without_explained",
               .long_name = "robust condition number of magnitudes without the explained zeros",
               .definition = "largest |lambda| over median_magnitude_without_explained",
               .undefined = {Status::kUndefinedZeroMedian, Status::kUndefinedTooFewPoints}});
};

}  // namespace

AnalyzerKind structure_analyzer() {
  return {
      .name = "structure",
      .question = "which zero eigenvalues follow from dead parameters or symmetries of the model",
      .by_default = true,
      .on_missing =
          "counts need the matrix (`method` dense or iterative), medians all eigenvalues (`method` "
          "dense)",
      .options = {},
      .create = [](const Settings&) { return std::make_unique<StructureAnalyzer>(); }};
}

}  // namespace hesscope
