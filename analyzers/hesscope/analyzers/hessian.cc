// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <optional>
#include <vector>

#include <hesscope/analyzers/hessian.h>
#include <hesscope/core/internal/norms.h>

namespace hesscope {
namespace {

constexpr char kSaveHessian[] = "save-hessian";

class HessianAnalyzer final : public Analyzer {
 public:
  explicit HessianAnalyzer(bool is_saved) {
    if (!is_saved) return;
    matrix_ = declare({.name = "matrix",
                       .dimensions = {"parameter", "parameter_column"},
                       .long_name = "Hessian of the mean loss",
                       .definition = "H_ij = d2L / dtheta_i dtheta_j, second derivatives of the "
                                     "mean loss L with respect to the parameters"});
  }

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    if (!matrix_) return {};
    return {{"parameter_column", objective.num_parameters()}};
  }

  Cost cost(const Objective& /*objective*/) const override { return {.asks_hessian = true}; }

  std::string needs_matrix() const override { return matrix_ ? kSaveHessian : ""; }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    const Eigen::MatrixXd* h = point.hessian();
    if (h == nullptr) {
      answer.set_rest_missing(point.hessian_status());
      return answer;
    }
    answer[diagonal_].set(h->diagonal());
    answer[trace_].set(detail::sum(h->diagonal()));
    answer[frobenius_norm_].set(detail::norm(*h));
    if (matrix_) answer[*matrix_].set_symmetric(*h);
    return answer;
  }

 private:
  VariableId diagonal_ = declare({.name = "diagonal",
                                  .dimensions = {"parameter"},
                                  .long_name = "diagonal of the Hessian",
                                  .definition = "H_ii = d2L / dtheta_i2, second derivative of the "
                                                "mean loss L with respect to each parameter"});
  VariableId trace_ = declare({.name = "trace",
                               .long_name = "trace of the Hessian",
                               .definition = "tr H = sum of the diagonal H_ii",
                               .headline = 1});
  VariableId frobenius_norm_ =
      declare({.name = "frobenius_norm",
               .long_name = "Frobenius norm of the Hessian",
               .definition = "||H||_F = square root of the sum of the squared entries H_ij",
               .headline = 2});
  std::optional<VariableId> matrix_;  // if the whole matrix is asked for
};

}  // namespace

AnalyzerKind hessian_analyzer() {
  return {.name = "hessian",
          .question = "the exact Hessian: its diagonal, trace and norm",
          .by_default = true,
          .on_missing = kTakesMatrix,
          .options = {{.name = kSaveHessian,
                       .type = SettingKey::Type::kBoolean,
                       .meaning = "store the whole matrix as well",
                       .fallback = SettingValue(false)}},
          .create = [](const Settings& settings) {
            return std::make_unique<HessianAnalyzer>(settings.boolean(kSaveHessian));
          }};
}

}  // namespace hesscope
