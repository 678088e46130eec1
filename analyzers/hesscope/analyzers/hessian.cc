// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/analyzers/hessian.h>
#include <hesscope/core/internal/norms.h>

namespace hesscope {
namespace {

class HessianAnalyzer final : public Analyzer {
 public:
  explicit HessianAnalyzer(bool save_matrix) : save_matrix_(save_matrix) {}

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    if (!save_matrix_) return {};
    return {{"parameter_column", objective.num_parameters()}};
  }

  std::vector<Quantity> quantities() const override {
    std::vector<Quantity> all = {
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

  std::vector<std::string> headline() const override { return {"trace", "frobenius_norm"}; }

  Cost cost(const Objective& /*objective*/) const override { return {.asks_hessian = true}; }

  Record analyze(PointAnalysis& point) const override {
    Record record;
    const Eigen::MatrixXd* h = point.hessian();
    if (h == nullptr) {
      record.set_rest_missing(quantities(), point.hessian_status());
      return record;
    }
    record.set("diagonal", h->diagonal());
    record.set("trace", detail::sum(h->diagonal()));
    record.set("frobenius_norm", detail::norm(*h));
    if (save_matrix_) record.set_symmetric("matrix", *h);
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
