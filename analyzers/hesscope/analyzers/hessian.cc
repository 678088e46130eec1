// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/analyzers/hessian.h>
#include <hesscope/core/internal/norms.h>

namespace hesscope {
namespace {

class HessianAnalyzer final : public Analyzer {
 public:
  explicit HessianAnalyzer(bool save_matrix) : save_matrix_(save_matrix) {
    declare_all(quantities(), headline());
  }

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    if (!save_matrix_) return {};
    return {{"parameter_column", objective.num_parameters()}};
  }

  std::vector<Variable> quantities() const {
    std::vector<Variable> all = {
        {.name = "diagonal",
         .dimensions = {"parameter"},
         .long_name = "diagonal of the Hessian",
         .definition = "second derivative of the mean loss by each parameter"},
        {.name = "trace", .long_name = "trace of the Hessian", .definition = "sum of the diagonal"},
        {.name = "frobenius_norm",
         .long_name = "Frobenius norm of the Hessian",
         .definition = "square root of the sum of the squared entries"},
    };
    if (save_matrix_) {
      all.push_back({.name = "matrix",
                     .dimensions = {"parameter", "parameter_column"},
                     .long_name = "Hessian of the mean loss",
                     .definition = "second derivatives of the mean loss by pairs of parameters"});
    }
    return all;
  }

  std::vector<std::string> headline() const { return {"trace", "frobenius_norm"}; }

  Cost cost(const Objective& /*objective*/) const override { return {.asks_hessian = true}; }

  Group analyze(PointAnalysis& point) const override {
    Group record = declared();
    const Eigen::MatrixXd* h = point.hessian();
    if (h == nullptr) {
      record.set_rest_missing(point.hessian_status());
      return record;
    }
    record["diagonal"].set(h->diagonal());
    record["trace"].set(detail::sum(h->diagonal()));
    record["frobenius_norm"].set(detail::norm(*h));
    if (save_matrix_) record["matrix"].set_symmetric(*h);
    return record;
  }

 private:
  bool save_matrix_;
};

}  // namespace

AnalyzerKind hessian_analyzer() {
  return {.name = "hessian",
          .question = "the exact Hessian: its diagonal, trace and norm",
          .by_default = true,
          .on_missing = kTakesMatrix,
          .options = {{.name = "save-hessian",
                       .type = SettingKey::Type::kBoolean,
                       .meaning = "store the whole matrix as well",
                       .fallback = SettingValue(false)}},
          .create = [](const Settings& settings) {
            return std::make_unique<HessianAnalyzer>(settings.boolean("save-hessian"));
          }};
}

}  // namespace hesscope
