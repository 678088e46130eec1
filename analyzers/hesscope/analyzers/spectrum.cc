// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/analyzers/internal/group_dimensions.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/spectrum.h>
#include <hesscope/analyzers/spectrum_section.h>

namespace hesscope {
namespace {

// Values of the option `prove`.
constexpr const char* kProvedAtEnds = "ends";
constexpr const char* kProvedInFull = "full";

class SpectrumAnalyzer final : public Analyzer {
 public:
  explicit SpectrumAnalyzer(bool proves_fully) {
    if (!proves_fully) return;
    error_bound_ =
        declare({.name = "error_bound",
                 .long_name =
                     "bound on the error of every eigenvalue of the Hessian, from all eigenvectors",
                 .definition =
                     "||H Q - Q Lambda||_F / sqrt(1 - ||Q^T Q - I||_F) with the eigenvalues Lambda "
                     "and all computed eigenvectors Q: every eigenvalue in Lambda is within this "
                     "distance of the eigenvalue of H of the same rank, up to the rounding of H Q",
                 .references = {papers::kCao, papers::kParlett}});
  }

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    return {detail::rank_dimension("rank", objective.num_parameters())};
  }

  Cost cost(const Objective& /*objective*/) const override {
    return {.asks_hessian = true, .asks_spectrum = true};
  }

  bool needs_full_proof() const override { return error_bound_.has_value(); }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    const Spectrum& spectrum = point.spectrum();
    spectrum_.set(answer, spectrum);
    if (error_bound_) answer[*error_bound_].set(spectrum.error_bound, spectrum.status);
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
                             .num_dead = 6},
                            "the largest eigenvalue magnitude, or more where a product with H "
                            "reveals a larger error of H"};
  std::optional<VariableId> error_bound_;  // if it is asked for
};

}  // namespace

AnalyzerKind spectrum_analyzer() {
  return {.name = "spectrum",
          .question = "eigenvalues of the Hessian, each with a proof of its rank",
          .by_default = true,
          .on_missing = "everything but the two ends needs `method` dense or iterative",
          .options = {{.name = "prove",
                       .meaning = "how to prove the eigenvalues that `method` distributed "
                                  "finds\nends: the two ends by Cholesky factors, the others by "
                                  "trace and norm\nfull: all of them by their eigenvectors",
                       .choices = {kProvedAtEnds, kProvedInFull},
                       .fallback = SettingValue(std::string(kProvedAtEnds))}},
          .create = [](const Settings& settings) {
            return std::make_unique<SpectrumAnalyzer>(settings.text("prove") == kProvedInFull);
          }};
}

}  // namespace hesscope
