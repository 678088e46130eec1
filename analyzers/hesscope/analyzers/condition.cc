// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/analyzers/condition.h>
#include <hesscope/spectra/condition_numbers.h>

namespace hesscope {
namespace {

class ConditionAnalyzer final : public Analyzer {
 public:
  ConditionAnalyzer() { declare_all(quantities(), headline()); }

  std::vector<Dimension> dimensions(const Objective& /*objective*/) const override { return {}; }

  std::vector<Variable> quantities() const {
    return {
        {.name = "robust_diagonal",
         .long_name = "robust condition number of the diagonal",
         .definition = "largest |H_ii| over the lower median of |H_ii|"},
        {.name = "robust_eigenvalue",
         .long_name = "robust condition number",
         .definition = "lambda_max over the lower median eigenvalue"},
        {.name = "robust_absolute",
         .long_name = "robust condition number of eigenvalue magnitudes",
         .definition = "largest |lambda| over the lower median of |lambda|"},
        {.name = "classical",
         .long_name = "condition number",
         .definition = "lambda_max over lambda_min, where lambda_min is above the rounding band"},
    };
  }

  std::vector<std::string> headline() const {
    return {"robust_diagonal", "robust_eigenvalue", "robust_absolute", "classical"};
  }

  Cost cost(const Objective& /*objective*/) const override {
    return {.asks_hessian = true, .asks_spectrum = true};
  }

  Group analyze(PointAnalysis& point) const override {
    const Eigen::MatrixXd* h = point.hessian();
    Group record = declared();
    if (h == nullptr) {
      record.set_rest_missing(point.hessian_status());
      return record;
    }
    const ConditionNumbers numbers = condition_numbers(h->diagonal(), point.spectrum());
    record["robust_diagonal"].set(numbers.robust_diagonal.value, numbers.robust_diagonal.status);
    record["robust_eigenvalue"].set(numbers.robust_eigenvalue.value,
                                    numbers.robust_eigenvalue.status);
    record["robust_absolute"].set(numbers.robust_absolute.value, numbers.robust_absolute.status);
    record["classical"].set(numbers.classical.value, numbers.classical.status);
    return record;
  }
};

}  // namespace

AnalyzerKind condition_analyzer() {
  return {.name = "condition",
          .question = "condition numbers of the Hessian: robust and classical ones",
          .by_default = true,
          .on_missing = kTakesMatrix,
          .options = {},
          .create = [](const Settings&) { return std::make_unique<ConditionAnalyzer>(); }};
}

}  // namespace hesscope
