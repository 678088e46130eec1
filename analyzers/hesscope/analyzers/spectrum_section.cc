// SPDX-License-Identifier: BSD-3-Clause
#include <iterator>
#include <utility>

#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/spectrum_section.h>

namespace hesscope {

SpectrumSection::SpectrumSection(Group& declaring,
                                 const std::string& suffix,
                                 const std::string& words,
                                 const SpectrumHeadline& headline,
                                 const std::string& norm) {
  const auto add = [&](Variable variable) {
    variable.name += suffix;
    return all_.emplace_back(declaring.add(std::move(variable)));
  };
  const std::string of = " of " + words;
  const std::string residual =
      "Euclidean norm of A v - lambda v for the unit eigenvector v, where A is " + words;
  eigenvalues_ =
      add({.name = "eigenvalues",
           .dimensions = {"rank"},
           .long_name = "eigenvalues" + of,
           .definition = "all lambda with A v = lambda v, in ascending order, where A is " + words,
           .references = {papers::kParlett}});
  lambda_min_ = add({.name = "lambda_min",
                     .long_name = "smallest eigenvalue" + of,
                     .definition = "eigenvalue of rank 0 in ascending order",
                     .headline = headline.lambda_min});
  lambda_median_ =
      add({.name = "lambda_median",
           .long_name = "lower median eigenvalue" + of,
           .definition = "eigenvalue of rank floor((n - 1) / 2) in ascending order, counted from 0",
           .references = {papers::kParlett},
           .headline = headline.lambda_median});
  lambda_max_ = add({.name = "lambda_max",
                     .long_name = "largest eigenvalue" + of,
                     .definition = "eigenvalue of rank n - 1 in ascending order",
                     .headline = headline.lambda_max});
  residual_min_ =
      add({.name = "residual_min", .long_name = "residual of lambda_min", .definition = residual});
  residual_median_ = add({.name = "residual_median",
                          .long_name = "residual of lambda_median",
                          .definition = residual});
  residual_max_ =
      add({.name = "residual_max", .long_name = "residual of lambda_max", .definition = residual});
  num_negative_ = add({.name = "num_negative",
                       .type = VariableType::kInt64,
                       .long_name = "number of negative eigenvalues" + of,
                       .definition = "eigenvalues below -rounding_band",
                       .references = {papers::kParlett},
                       .headline = headline.num_negative});
  num_zero_ = add({.name = "num_zero",
                   .type = VariableType::kInt64,
                   .long_name = "number of zero eigenvalues" + of,
                   .definition = "eigenvalues of magnitude at most rounding_band",
                   .references = {papers::kParlett},
                   .headline = headline.num_zero});
  num_positive_ = add({.name = "num_positive",
                       .type = VariableType::kInt64,
                       .long_name = "number of positive eigenvalues" + of,
                       .definition = "eigenvalues above rounding_band",
                       .references = {papers::kParlett}});
  num_dead_ = add({.name = "num_dead",
                   .type = VariableType::kInt64,
                   .long_name = "number of dead parameters",
                   .definition = "rows of the matrix that are identically zero",
                   .headline = headline.num_dead});
  rounding_band_ = add({.name = "rounding_band",
                        .long_name = "magnitude below which an eigenvalue cannot be told from zero",
                        .definition = "(n + 10) times the machine epsilon times " + norm,
                        .references = {papers::kAnderson}});
  proof_ = add(
      {.name = "proof",
       .type = VariableType::kInt8,
       .long_name = "how the eigenvalues were established",
       .definition =
           "counted: inertia fixes the rank; dense: full decomposition, exact to rounding_band; "
           "converged: residual bound without a count",
       .references = {papers::kParlett},
       .flag_meanings = {std::begin(kProofMeanings), std::end(kProofMeanings)}});
}

void SpectrumSection::set(Group& answer, const Spectrum& spectrum) const {
  const bool is_known = spectrum.status == Status::kOk;
  answer[proof_].set_flag(static_cast<std::int8_t>(spectrum.proof));
  if (is_known) set_known(answer, spectrum);
  for (const VariableId id : all_) {
    if (!answer[id].is_said()) {
      answer[id].set_missing(is_known ? Status::kNotComputed : spectrum.status);
    }
  }
}

void SpectrumSection::set_known(Group& answer, const Spectrum& spectrum) const {
  // A residual is missing if its eigenvector could not be computed, even if the eigenvalue could.
  const auto set_ranked = [&](VariableId value, VariableId residual, const Eigenvalue& found) {
    answer[value].set(found.value);
    answer[residual].set(found.residual, found.residual >= 0 ? Status::kOk : Status::kFailed);
  };
  if (spectrum.eigenvalues.size() > 0) answer[eigenvalues_].set(spectrum.eigenvalues);
  set_ranked(lambda_min_, residual_min_, spectrum.smallest);
  set_ranked(lambda_max_, residual_max_, spectrum.largest);
  answer[rounding_band_].set(spectrum.rounding_band);
  if (spectrum.proof == Proof::kConverged) {
    answer[lambda_min_].is_proved = false;
    answer[lambda_max_].is_proved = false;
  }
  if (spectrum.num_zero < 0) return;  // only the ends, by products
  set_ranked(lambda_median_, residual_median_, spectrum.median);
  answer[num_negative_].set_count(spectrum.num_negative);
  answer[num_zero_].set_count(spectrum.num_zero);
  answer[num_positive_].set_count(spectrum.num_positive);
  answer[num_dead_].set_count(spectrum.num_dead);
}

}  // namespace hesscope
