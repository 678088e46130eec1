// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/internal/stability_sections.h>
#include <hesscope/core/internal/wide.h>

namespace hesscope::detail {
namespace {

Variable preconditioner_of(const std::string& whose) {
  return {.name = "preconditioner",
          .dimensions = {"parameter"},
          .long_name = "what the update of " + whose + " divides by",
          .definition =
              "Adam: P = (1 - beta1^t) (sqrt(v / (1 - beta2^t)) + epsilon), with both corrections "
              "1 if the number t of updates is not known; AMSGrad: v is its maximum; NAdam: "
              "without 1 - beta1^t; RAdam: with its rectification; Adamax: (1 - beta1^t) v; "
              "RMSprop: sqrt(v) + epsilon, with v minus the squared mean if centered; Adagrad: "
              "(sqrt(v) + epsilon) (1 + (t - 1) lr_decay); SGD: 1. Multiplied by the largest "
              "learning rate over its own for a parameter whose group has a smaller one, if it is "
              "known which group it is in; infinite for parameters that are not trained",
          .references = {papers::kKingma, papers::kCohen2022},
          .undefined = {Status::kNotStored}};
}

ThresholdSection threshold_of(Group& declaring, bool is_adam, const std::string& whose) {
  const std::string name = is_adam ? "adam" : "optimizer";
  return {
      declaring,
      {.name = name + "_threshold",
       .long_name = "largest stable preconditioned sharpness of " + whose,
       .definition =
           std::string("(2 + 2 beta1) / ((1 - beta1) learning_rate) for Adam and its variants; "
                       "NAdam: from its momenta at that step") +
           (is_adam ? "" : "; SGD and RMSprop: as momentum_threshold; Adagrad: 2 / learning_rate") +
           "; learning_rate is the largest of the groups'",
       .references = {papers::kCohen2022},
       .undefined = {Status::kUndefinedZeroDenominator, Status::kNotStored}},
      {.name = name + "_ratio",
       .long_name = "preconditioned sharpness over " + name + "_threshold",
       .definition = "lambda_max_preconditioned / " + name + "_threshold",
       .references = {papers::kCohen2022},
       .undefined = {Status::kNotStored},
       .headline = 5}};
}

std::string owner(bool is_adam) { return is_adam ? "Adam" : "the checkpoint's optimiser"; }

}  // namespace

SettingSection::SettingSection(Group& declaring,
                               const std::string& name,
                               const std::string& long_name,
                               const std::string& definition)
    : value_(declaring.add({.name = name,
                            .long_name = long_name,
                            .definition = definition,
                            .undefined = {Status::kNotStored}})),
      source_(declaring.add(
          {.name = name + "_source",
           .type = VariableType::kInt8,
           .long_name = "where " + name + " is from",
           .definition =
               "checkpoint: stored there for its optimiser, NaN if not the same for all "
               "parameters; option: given for the run, which takes precedence; default: PyTorch's",
           .flag_meanings = {kSettingSources.begin(), kSettingSources.end()}})) {}

void SettingSection::set(Group& answer, const EffectiveSetting& setting) const {
  if (setting.value) {
    answer[value_].set(*setting.value);
  } else {
    answer[value_].set_missing(setting.status());
  }
  answer[source_].set_flag(static_cast<std::int8_t>(setting.source));
}

ThresholdSection::ThresholdSection(Group& declaring, Variable threshold, Variable ratio)
    : threshold_(declaring.add(std::move(threshold))), ratio_(declaring.add(std::move(ratio))) {}

void ThresholdSection::set(Group& answer,
                           const std::optional<LinearStep>& step,
                           const std::optional<double>& learning_rate,
                           const Spectrum& spectrum) const {
  if (!step || !learning_rate) return set_missing(answer, Status::kNotComputed);
  const double limit = stable_limit(*step);
  if (*learning_rate == 0 || !std::isfinite(limit)) {  // the optimiser does not move
    answer[threshold_].set_missing(Status::kUndefinedZeroDenominator);
  } else {
    answer[threshold_].set(limit / *learning_rate);
  }
  answer[ratio_].set((spectrum.largest.value * (Wide(*learning_rate) / limit)).value(),
                     spectrum.status);
  if (spectrum.proof == Proof::kConverged) answer[ratio_].is_proved = false;
}

void ThresholdSection::set_missing(Group& answer, Status status) const {
  answer[threshold_].set_missing(status);
  answer[ratio_].set_missing(status);
}

PreconditionedSection::PreconditionedSection(Group& declaring, bool is_adam)
    : preconditioner(declaring.add(preconditioner_of(owner(is_adam)))),
      source(declaring.add(
          {.name = "source",
           .type = VariableType::kInt8,
           .long_name = "where second moments v are from",
           .definition =
               "checkpoint: stored there; recomputed: g^2 + (variance of the samples' gradients, "
               "with their number minus 1 in the denominator) / batch_size for minibatches drawn "
               "anew at every step, or g^2 if every step takes the whole data set",
           .flag_meanings = {"none", "checkpoint", "recomputed"},
           .headline = 6})),
      threshold(threshold_of(declaring, is_adam, owner(is_adam))),
      robust_diagonal(
          declaring.add({.name = "robust_diagonal_preconditioned",
                         .long_name = "robust condition number of the preconditioned diagonal",
                         .definition = "largest |H_ii / P_i| over the lower median of |H_ii / P_i|",
                         .undefined = {Status::kUndefinedZeroMedian}})),
      robust_absolute(declaring.add(
          {.name = "robust_absolute_preconditioned",
           .long_name = "robust condition number of preconditioned eigenvalue magnitudes",
           .definition = "largest |lambda| over the lower median of |lambda|",
           .undefined = {Status::kUndefinedZeroMedian}})),
      beta1(declaring,
            "beta1",
            "decay of Adam's first average",
            "beta1 in m <- beta1 m + (1 - beta1) g"),
      beta2(declaring,
            "beta2",
            "decay of Adam's second average",
            "beta2 in v <- beta2 v + (1 - beta2) g^2"),
      epsilon(declaring,
              "epsilon",
              "constant added to the square root in P",
              "epsilon of preconditioner"),
      spectrum(declaring, "_preconditioned", "P^-1/2 H P^-1/2", {.lambda_max = 4}) {
  for (Variable& variable : declaring.variables) {  // P may not be there
    const bool is_known =
        std::ranges::find(variable.undefined, Status::kNotStored) != variable.undefined.end();
    if (variable.name.ends_with("_preconditioned") && !is_known) {
      variable.undefined.push_back(Status::kNotStored);
    }
    if (variable.name == "lambda_max_preconditioned") {
      variable.references.emplace_back(papers::kCohen2022);
    }
  }
}

}  // namespace hesscope::detail
