// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <hesscope/analyzers/ggn.h>
#include <hesscope/analyzers/internal/block_norms.h>
#include <hesscope/analyzers/internal/group_dimensions.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/spectrum_section.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>

namespace hesscope {
namespace {

class GgnAnalyzer final : public Analyzer {
 public:
  std::vector<Dimension> dimensions(const Objective& objective) const override {
    if (!objective.has_gauss_newton()) {
      throw ConfigError(
          "'ggn': this objective has no Gauss-Newton matrix; its loss is not known "
          "as a function of predictions");
    }
    return {detail::rank_dimension("rank", objective.num_parameters()),
            detail::block_dimension("block_column", objective)};
  }

  Cost cost(const Objective& /*objective*/) const override {
    return {.asks_hessian = true,
            .matrices = 2,
            .gauss_newtons = 1,
            .decompositions = 2,
            .searches = 3};
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
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
      const Spectrum of_g = point.spectrum_of(g, part(first, second));
      set(answer, gauss_newton_spectrum_, gauss_newton_norms_, point, g, of_g);
      const Eigen::MatrixXd r = *h - g;
      const Spectrum of_r = point.spectrum_of(
          r, part(second, 1), std::max(of_g.rounding_band, point.hessian_error()));
      set(answer, functional_spectrum_, functional_norms_, point, r, of_r);
    } else if (point.hessian_status() == Status::kNotComputed) {
      const Objective& objective = point.objective();
      // A product with R takes one with H and one with G.
      const Spectrum of_g = point.ends_of(GaussNewtonOperator(objective, point.theta()),
                                          detail::part_of(point.progress(), 0, 1.0 / 3));
      gauss_newton_spectrum_.set(answer, of_g);
      functional_spectrum_.set(answer,
                               point.ends_of(ResidualOperator(objective, point.theta()),
                                             detail::part_of(point.progress(), 1.0 / 3, 1),
                                             of_g.rounding_band));
    } else {
      Spectrum none;
      none.status = point.hessian_status();
      gauss_newton_spectrum_.set(answer, none);
      functional_spectrum_.set(answer, none);
    }
    answer.set_rest_missing(point.hessian_status());
    return answer;
  }

 private:
  struct Norms {
    VariableId trace, frobenius, blocks;
  };

  Norms declare_norms(const std::string& suffix,
                      const std::string& words,
                      const std::string& formula,
                      int headline) {
    return {declare({.name = "trace" + suffix,
                     .long_name = "trace of " + words,
                     .definition = "sum of the diagonal of " + formula,
                     .references = {papers::kSchraudolph, papers::kOrmaniec}}),
            declare({.name = "frobenius_norm" + suffix,
                     .long_name = "Frobenius norm of " + words,
                     .definition = "square root of the sum of the squared entries of " + formula,
                     .references = {papers::kSchraudolph, papers::kOrmaniec},
                     .headline = headline}),
            declare({.name = "block_frobenius_norm" + suffix,
                     .dimensions = {"block", "block_column"},
                     .long_name = "Frobenius norms of the blocks of " + words,
                     .definition = "square root of the sum of the squared entries in the rows of "
                                   "one parameter tensor and the columns of another"})};
  }

  static void set(Group& answer,
                  const SpectrumSection& spectrum,
                  const Norms& norms,
                  PointAnalysis& point,
                  const Eigen::MatrixXd& matrix,
                  const Spectrum& found) {
    spectrum.set(answer, found);
    answer[norms.trace].set(detail::sum(matrix.diagonal()));
    answer[norms.frobenius].set(detail::norm(matrix));
    answer[norms.blocks].set_symmetric(block_norms(matrix, point.objective().parameter_blocks()));
  }

  SpectrumSection gauss_newton_spectrum_{
      declaring(), "", "the Gauss-Newton matrix", {.lambda_min = 1, .lambda_max = 2}};
  SpectrumSection functional_spectrum_{
      declaring(),
      "_functional",
      "the Hessian without its Gauss-Newton part",
      {.lambda_min = 3, .lambda_max = 4},
      "the largest eigenvalue magnitude of this matrix and of the Gauss-Newton matrix, since it is "
      "a difference of larger matrices"};
  Norms gauss_newton_norms_ =
      declare_norms("",
                    "the Gauss-Newton matrix",
                    "G = mean over samples of J^T L'' J, where J is the Jacobian of a sample's "
                    "prediction with respect to the parameters and L'' the second derivatives of "
                    "its loss with respect to the prediction",
                    5);
  Norms functional_norms_ =
      declare_norms("_functional", "the Hessian without its Gauss-Newton part", "H - G", 6);
};

}  // namespace

AnalyzerKind ggn_analyzer() {
  return {.name = "ggn",
          .question = "the Hessian split into its Gauss-Newton part and the functional rest",
          .by_default = false,
          .on_missing = "norms need the matrix (`method` dense or iterative)",
          .options = {},
          .create = [](const Settings&) { return std::make_unique<GgnAnalyzer>(); }};
}

}  // namespace hesscope
