// SPDX-License-Identifier: BSD-3-Clause
#include <iterator>

#include <hesscope/analyzers/spectrum_section.h>

namespace hesscope {

std::vector<Quantity> spectrum_quantities(const std::string& suffix, const std::string& words) {
  using Type = Quantity::Type;
  const std::string residual =
      "Euclidean norm of A v - lambda v for its unit eigenvector v, A being " + words;
  const std::string of = " of " + words;
  std::vector<Quantity> all = {
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
       .type = Type::kCount,
       .long_name = "number of negative eigenvalues" + of,
       .definition = "eigenvalues below -rounding_band"},
      {.name = "num_zero",
       .type = Type::kCount,
       .long_name = "number of zero eigenvalues" + of,
       .definition = "eigenvalues of magnitude at most rounding_band"},
      {.name = "num_positive",
       .type = Type::kCount,
       .long_name = "number of positive eigenvalues" + of,
       .definition = "eigenvalues above rounding_band"},
      {.name = "num_dead",
       .type = Type::kCount,
       .long_name = "number of dead parameters",
       .definition = "rows of the matrix that are identically zero"},
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
  for (Quantity& quantity : all) quantity.name += suffix;
  return all;
}

void set_spectrum(Record& record, const Spectrum& spectrum, const std::string& suffix) {
  const auto missing = [&](const char* name, Status status) {
    record.set_missing(name + suffix, status);
  };
  record.set_flag("proof" + suffix, static_cast<std::int8_t>(spectrum.proof));
  if (spectrum.status != Status::kOk) {
    record.set_rest_missing(spectrum_quantities(suffix, ""), spectrum.status);
    return;
  }
  if (spectrum.eigenvalues.size() > 0) {
    record.set("eigenvalues" + suffix, spectrum.eigenvalues);
  } else {
    missing("eigenvalues", Status::kNotComputed);
  }
  // A residual is missing when its eigenvector could not be computed, though the eigenvalue could.
  const auto set = [&](const char* value_name, const char* residual_name, const Eigenvalue& found) {
    record.set(value_name + suffix, found.value);
    record.set(residual_name + suffix,
               found.residual,
               found.residual >= 0 ? Status::kOk : Status::kFailed);
  };
  set("lambda_min", "residual_min", spectrum.smallest);
  set("lambda_max", "residual_max", spectrum.largest);
  record.set("rounding_band" + suffix, spectrum.rounding_band);
  if (spectrum.proof == Proof::kConverged) {
    record.set_unproved("lambda_min" + suffix);
    record.set_unproved("lambda_max" + suffix);
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
  record.set_count("num_negative" + suffix, spectrum.num_negative);
  record.set_count("num_zero" + suffix, spectrum.num_zero);
  record.set_count("num_positive" + suffix, spectrum.num_positive);
  record.set_count("num_dead" + suffix, spectrum.num_dead);
}

}  // namespace hesscope
