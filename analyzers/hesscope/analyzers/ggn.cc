// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <vector>

#include <hesscope/analyzers/ggn.h>
#include <hesscope/analyzers/internal/block_norms.h>
#include <hesscope/analyzers/internal/group_dimensions.h>
#include <hesscope/analyzers/spectrum_section.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>

namespace hesscope {
namespace {

const std::string kFunctional = "_functional";

class GgnAnalyzer final : public Analyzer {
 public:
  GgnAnalyzer() { declare_all(quantities(), headline()); }

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    if (!objective.has_gauss_newton()) {
      throw ConfigError(
          "'ggn': this objective has no Gauss-Newton matrix; its loss is not known "
          "as a function of predictions");
    }
    return {detail::rank_dimension("rank", objective.num_parameters()),
            detail::block_dimension("block_column", objective)};
  }

  std::vector<Variable> quantities() const {
    std::vector<Variable> all = spectrum_quantities("", "the Gauss-Newton matrix");
    const std::vector<Variable> functional =
        spectrum_quantities(kFunctional, "the Hessian without its Gauss-Newton part");
    all.insert(all.end(), functional.begin(), functional.end());
    for (const std::string& suffix : {std::string(), kFunctional}) {
      const std::string of = suffix.empty() ? " of the Gauss-Newton matrix" : " of what is left";
      all.push_back({.name = "trace" + suffix,
                     .long_name = "trace" + of,
                     .definition = "sum of the diagonal"});
      all.push_back({.name = "frobenius_norm" + suffix,
                     .long_name = "Frobenius norm" + of,
                     .definition = "square root of the sum of the squared entries"});
      all.push_back({.name = "block_frobenius_norm" + suffix,
                     .dimensions = {"block", "block_column"},
                     .long_name = "Frobenius norms of the blocks" + of,
                     .definition = "square root of the sum of the squared entries for the "
                                   "parameters of one tensor by those of another"});
    }
    return all;
  }

  std::vector<std::string> headline() const {
    return {"lambda_min",
            "lambda_max",
            "lambda_min_functional",
            "lambda_max_functional",
            "frobenius_norm",
            "frobenius_norm_functional"};
  }

  Cost cost(const Objective& /*objective*/) const override {
    return {.asks_hessian = true,
            .matrices = 2,
            .gauss_newtons = 1,
            .decompositions = 2,
            .searches = 3};
  }

  Group analyze(PointAnalysis& point) const override {
    Group record = declared();
    const Eigen::MatrixXd* h = point.hessian();
    if (h != nullptr) {
      const PointCosts& costs = point.costs();
      const double whole = costs.gauss_newton + 2 * costs.decomposition;
      const double first = costs.gauss_newton / whole;
      const double second = first + costs.decomposition / whole;
      const auto part = [&](double begin, double end) {
        return detail::part_of(point.progress(), begin, end);
      };
      const Eigen::MatrixXd g = point.objective().gauss_newton(
          point.theta(), point.objective().all_samples(), part(0, first));
      describe(point, g, "", part(first, second), record);
      describe(point, *h - g, kFunctional, part(second, 1), record);
    } else if (point.hessian_status() == Status::kNotComputed) {
      const Objective& objective = point.objective();
      // A product with R is one with H and one with G.
      set_spectrum(record,
                   point.ends_of(GaussNewtonOperator(objective, point.theta()),
                                 detail::part_of(point.progress(), 0, 1.0 / 3)),
                   "");
      set_spectrum(record,
                   point.ends_of(ResidualOperator(objective, point.theta()),
                                 detail::part_of(point.progress(), 1.0 / 3, 1)),
                   kFunctional);
    }
    record.set_rest_missing(point.hessian_status());
    return record;
  }

 private:
  static void describe(PointAnalysis& point,
                       const Eigen::MatrixXd& matrix,
                       const std::string& suffix,
                       const ProgressCallback& progress,
                       Group& record) {
    set_spectrum(record, point.spectrum_of(matrix, progress), suffix);
    record["trace" + suffix].set(detail::sum(matrix.diagonal()));
    record["frobenius_norm" + suffix].set(detail::norm(matrix));
    record["block_frobenius_norm" + suffix].set_symmetric(
        block_norms(matrix, point.objective().parameter_blocks()));
  }
};

}  // namespace

AnalyzerKind ggn_analyzer() {
  return {.name = "ggn",
          .question = "the Hessian split into its Gauss-Newton part and the functional rest",
          .by_default = false,
          .on_missing = "norms take the matrix (`method` dense or iterative)",
          .options = {},
          .create = [](const Settings&) { return std::make_unique<GgnAnalyzer>(); }};
}

}  // namespace hesscope
