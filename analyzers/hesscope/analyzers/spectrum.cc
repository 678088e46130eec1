// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <vector>

#include <hesscope/analyzers/internal/group_dimensions.h>
#include <hesscope/analyzers/spectrum.h>
#include <hesscope/analyzers/spectrum_section.h>

namespace hesscope {
namespace {

class SpectrumAnalyzer final : public Analyzer {
 public:
  std::vector<Dimension> dimensions(const Objective& objective) const override {
    return {detail::rank_dimension("rank", objective.num_parameters())};
  }

  Cost cost(const Objective& /*objective*/) const override {
    return {.asks_hessian = true, .asks_spectrum = true};
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    spectrum_.set(answer, point.spectrum());
    return answer;
  }

 private:
  SpectrumSection spectrum_{declaring(),
                            "",
                            "the Hessian",
                            {.lambda_min = 1,
                             .lambda_median = 2,
                             .lambda_max = 3,
                             .num_negative = 4,
                             .num_zero = 5,
                             .num_dead = 6}};
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
