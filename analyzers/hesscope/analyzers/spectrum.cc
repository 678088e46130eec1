// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/analyzers/internal/group_dimensions.h>
#include <hesscope/analyzers/spectrum.h>
#include <hesscope/analyzers/spectrum_section.h>

namespace hesscope {
namespace {

class SpectrumAnalyzer final : public Analyzer {
 public:
  SpectrumAnalyzer() { declare_all(quantities(), headline()); }

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    return {detail::rank_dimension("rank", objective.num_parameters())};
  }

  std::vector<Variable> quantities() const { return spectrum_quantities("", "the Hessian"); }

  std::vector<std::string> headline() const {
    return {"lambda_min", "lambda_median", "lambda_max", "num_negative", "num_zero", "num_dead"};
  }

  Cost cost(const Objective& /*objective*/) const override {
    return {.asks_hessian = true, .asks_spectrum = true};
  }

  Group analyze(PointAnalysis& point) const override {
    Group record = declared();
    set_spectrum(record, point.spectrum(), "");
    return record;
  }
};

}  // namespace

AnalyzerKind spectrum_analyzer() {
  return {.name = "spectrum",
          .question = "eigenvalues of the Hessian, each with a proof of its rank",
          .by_default = true,
          .on_missing = "all but the ends takes `method` dense or iterative",
          .options = {},
          .create = [](const Settings&) { return std::make_unique<SpectrumAnalyzer>(); }};
}

}  // namespace hesscope
