// SPDX-License-Identifier: BSD-3-Clause
#include <iterator>

#include <hesscope/analyzers/spectrum_section.h>

namespace hesscope {

std::vector<Variable> spectrum_quantities(const std::string& suffix, const std::string& words) {
  const std::string residual =
      "Euclidean norm of A v - lambda v for its unit eigenvector v, A being " + words;
  const std::string of = " of " + words;
  std::vector<Variable> all = {
      {.name = "eigenvalues",
       .dimensions = {"rank"},
       .long_name = "eigenvalues" + of,
       .definition = "in ascending order"},
      {.name = "lambda_min",
       .long_name = "smallest eigenvalue" + of,
       .definition = "eigenvalue of rank 0 in ascending order"},
      {.name = "lambda_median",
       .long_name = "lower median eigenvalue" + of,
       .definition = "eigenvalue of rank floor((n - 1) / 2) from 0 in ascending order"},
      {.name = "lambda_max",
       .long_name = "largest eigenvalue" + of,
       .definition = "eigenvalue of rank n - 1 in ascending order"},
      {.name = "residual_min", .long_name = "residual of lambda_min", .definition = residual},
      {.name = "residual_median", .long_name = "residual of lambda_median", .definition = residual},
      {.name = "residual_max", .long_name = "residual of lambda_max", .definition = residual},
      {.name = "num_negative",
       .type = VariableType::kInt64,
       .long_name = "number of negative eigenvalues" + of,
       .definition = "eigenvalues below -rounding_band"},
      {.name = "num_zero",
       .type = VariableType::kInt64,
       .long_name = "number of zero eigenvalues" + of,
       .definition = "eigenvalues of magnitude at most rounding_band"},
      {.name = "num_positive",
       .type = VariableType::kInt64,
       .long_name = "number of positive eigenvalues" + of,
       .definition = "eigenvalues above rounding_band"},
      {.name = "num_dead",
       .type = VariableType::kInt64,
       .long_name = "number of dead parameters",
       .definition = "rows of the matrix that are identically zero"},
      {.name = "rounding_band",
       .long_name = "magnitude below which an eigenvalue cannot be told from zero",
       .definition = "(n + 10) times the machine epsilon times the largest eigenvalue magnitude"},
      {.name = "proof",
       .type = VariableType::kInt8,
       .long_name = "how the eigenvalues were established",
       .definition =
           "counted: inertia fixes the rank; dense: full decomposition, exact to rounding_band; "
           "converged: residual bound without a count",
       .flag_meanings = {std::begin(kProofMeanings), std::end(kProofMeanings)}},
  };
  for (Variable& quantity : all) quantity.name += suffix;
  return all;
}

void set_spectrum(Group& record, const Spectrum& spectrum, const std::string& suffix) {
  const auto missing = [&](const char* name, Status status) {
    record[name + suffix].set_missing(status);
  };
  record["proof" + suffix].set_flag(static_cast<std::int8_t>(spectrum.proof));
  if (spectrum.status != Status::kOk) {
    for (const Variable& quantity : spectrum_quantities(suffix, "")) {
      Variable& variable = record[quantity.name];
      if (!variable.is_said()) variable.set_missing(spectrum.status);
    }
    return;
  }
  if (spectrum.eigenvalues.size() > 0) {
    record["eigenvalues" + suffix].set(spectrum.eigenvalues);
  } else {
    missing("eigenvalues", Status::kNotComputed);
  }
  // A residual is missing when its eigenvector could not be computed, though the eigenvalue could.
  const auto set = [&](const char* value_name, const char* residual_name, const Eigenvalue& found) {
    record[value_name + suffix].set(found.value);
    record[residual_name + suffix].set(found.residual,
                                       found.residual >= 0 ? Status::kOk : Status::kFailed);
  };
  set("lambda_min", "residual_min", spectrum.smallest);
  set("lambda_max", "residual_max", spectrum.largest);
  record["rounding_band" + suffix].set(spectrum.rounding_band);
  if (spectrum.proof == Proof::kConverged) {
    record["lambda_min" + suffix].is_proved = false;
    record["lambda_max" + suffix].is_proved = false;
  }
  if (spectrum.num_zero < 0) {  // the ends alone, by products
    for (const char* name : {"lambda_median",
                             "residual_median",
                             "num_negative",
                             "num_zero",
                             "num_positive",
                             "num_dead"}) {
      missing(name, Status::kNotComputed);
    }
    return;
  }
  set("lambda_median", "residual_median", spectrum.median);
  record["num_negative" + suffix].set_count(spectrum.num_negative);
  record["num_zero" + suffix].set_count(spectrum.num_zero);
  record["num_positive" + suffix].set_count(spectrum.num_positive);
  record["num_dead" + suffix].set_count(spectrum.num_dead);
}

}  // namespace hesscope
