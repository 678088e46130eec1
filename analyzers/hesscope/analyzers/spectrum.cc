// SPDX-License-Identifier: BSD-3-Clause
#include <iterator>

#include <hesscope/analyzers/spectrum.h>

namespace hesscope {
namespace {

class SpectrumAnalyzer final : public Analyzer {
 public:
  std::vector<Dimension> dimensions(const Objective& objective) const override {
    return {{"rank", objective.num_parameters()}};
  }

  std::vector<Quantity> quantities() const override {
    using Type = Quantity::Type;
    const std::string residual = "Euclidean norm of H v - lambda v for its unit eigenvector v";
    return {
        {.name = "eigenvalues",
         .dimensions = {"rank"},
         .long_name = "eigenvalues of the Hessian",
         .definition = "in ascending order"},
        {.name = "lambda_min",
         .long_name = "smallest eigenvalue",
         .definition = "eigenvalue of rank 0 in ascending order"},
        {.name = "lambda_median",
         .long_name = "lower median eigenvalue",
         .definition = "eigenvalue of rank floor((n - 1) / 2) from 0 in ascending order"},
        {.name = "lambda_max",
         .long_name = "largest eigenvalue",
         .definition = "eigenvalue of rank n - 1 in ascending order"},
        {.name = "residual_min", .long_name = "residual of lambda_min", .definition = residual},
        {.name = "residual_median",
         .long_name = "residual of lambda_median",
         .definition = residual},
        {.name = "residual_max", .long_name = "residual of lambda_max", .definition = residual},
        {.name = "num_negative",
         .type = Type::kCount,
         .long_name = "number of negative eigenvalues",
         .definition = "eigenvalues below -rounding_band"},
        {.name = "num_zero",
         .type = Type::kCount,
         .long_name = "number of zero eigenvalues",
         .definition = "eigenvalues of magnitude at most rounding_band"},
        {.name = "num_positive",
         .type = Type::kCount,
         .long_name = "number of positive eigenvalues",
         .definition = "eigenvalues above rounding_band"},
        {.name = "num_dead",
         .type = Type::kCount,
         .long_name = "number of dead parameters",
         .definition = "rows of the Hessian that are identically zero"},
        {.name = "rounding_band",
         .long_name = "magnitude below which an eigenvalue cannot be told from zero",
         .definition = "(n + 10) times the machine epsilon times the largest eigenvalue magnitude"},
        {.name = "proof",
         .type = Type::kFlag,
         .long_name = "how the eigenvalues were established",
         .definition =
             "counted: inertia fixes the rank; dense: full decomposition, exact to rounding_band; "
             "converged: residual bound without a count",
         .flags = {std::begin(kProofMeanings), std::end(kProofMeanings)}},
    };
  }

  std::vector<std::string> headline() const override {
    return {"lambda_min", "lambda_median", "lambda_max", "num_negative", "num_zero", "num_dead"};
  }

  Record analyze(PointAnalysis& point) const override {
    const Spectrum& s = point.spectrum();
    Record record;
    record.set_flag("proof", static_cast<std::int8_t>(s.proof));
    if (s.status != Status::kOk) {
      for (const Quantity& quantity : quantities()) {
        if (quantity.type != Quantity::Type::kFlag) record.set_missing(quantity.name, s.status);
      }
      return record;
    }
    if (s.eigenvalues.size() > 0) {
      record.set("eigenvalues", s.eigenvalues);
    } else {
      record.set_missing("eigenvalues", Status::kNotComputed);
    }
    record.set("lambda_min", s.smallest.value);
    record.set("lambda_median", s.median.value);
    record.set("lambda_max", s.largest.value);
    set_residual(record, "residual_min", s.smallest.residual);
    set_residual(record, "residual_median", s.median.residual);
    set_residual(record, "residual_max", s.largest.residual);
    record.set_count("num_negative", s.num_negative);
    record.set_count("num_zero", s.num_zero);
    record.set_count("num_positive", s.num_positive);
    record.set_count("num_dead", s.num_dead);
    record.set("rounding_band", s.rounding_band);
    return record;
  }

 private:
  // A residual is missing when its eigenvector could not be computed, though the eigenvalue could.
  static void set_residual(Record& record, const std::string& name, double residual) {
    record.set(name, residual, residual >= 0 ? Status::kOk : Status::kFailed);
  }
};

}  // namespace

std::unique_ptr<Analyzer> make_spectrum_analyzer(const AnalyzerOptions& /*options*/) {
  return std::make_unique<SpectrumAnalyzer>();
}

}  // namespace hesscope
