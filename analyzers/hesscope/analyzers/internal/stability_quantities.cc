// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/analyzers/internal/stability_quantities.h>
#include <hesscope/analyzers/internal/stability_settings.h>
#include <hesscope/analyzers/spectrum_section.h>
#include <hesscope/problem/optimizer_state.h>

namespace hesscope::detail {
namespace {

// A setting, and where it is from.
void add_setting(std::vector<Variable>& all,
                 const std::string& name,
                 const std::string& long_name,
                 const std::string& definition) {
  all.push_back({.name = name, .long_name = long_name, .definition = definition});
  all.push_back({.name = name + "_source",
                 .type = VariableType::kInt8,
                 .long_name = "where " + name + " is from",
                 .definition =
                     "checkpoint: stored there for its optimiser, NaN if not the same for "
                     "all parameters; option: given for the run, which wins; default: "
                     "PyTorch's",
                 .flag_meanings = {kSettingSources.begin(), kSettingSources.end()}});
}

}  // namespace

std::vector<Variable> stability_quantities() {
  std::vector<Variable> all = {
      {.name = "sharpness",
       .long_name = "sharpness",
       .definition = "largest eigenvalue of the Hessian"},
      {.name = "gd_threshold",
       .long_name = "largest stable sharpness of gradient descent",
       .definition = "2 / learning_rate"},
      {.name = "gd_ratio",
       .long_name = "sharpness over gd_threshold",
       .definition = "sharpness / gd_threshold; above 1 gradient descent is unstable"},
      {.name = "momentum_threshold",
       .long_name = "largest stable sharpness of gradient descent with momentum",
       .definition =
           "(2 + 2 m) / learning_rate for heavy ball with momentum m; over 1 - dampening, "
           "or 1 + 2 m if it is Nesterov's, where the checkpoint is of such SGD"},
      {.name = "momentum_ratio",
       .long_name = "sharpness over momentum_threshold",
       .definition = "sharpness / momentum_threshold"},
      {.name = "optimizer",
       .type = VariableType::kInt8,
       .long_name = "the checkpoint's optimiser",
       .definition = "as the names of its settings and of what it keeps say; adam may be AdamW",
       .flag_meanings = {kOptimizerKindNames.begin(), kOptimizerKindNames.end()}}};
  add_setting(
      all, "learning_rate", "learning rate", "as the checkpoint has it: schedules change it");
  add_setting(all, "momentum", "momentum", "m of SGD; of another optimiser, its beta1");
  add_setting(all,
              "weight_decay",
              "the optimiser's weight decay",
              "not in the loss that is analyzed; as an L2 term it would add itself to every "
              "eigenvalue of the Hessian");
  return all;
}

std::vector<Variable> preconditioned_quantities(const std::string& prefix) {
  const bool is_adam = prefix == "adam";
  const std::string whose = is_adam ? "Adam" : "the checkpoint's optimiser";
  std::vector<Variable> all = {
      {.name = "preconditioner",
       .dimensions = {"parameter"},
       .long_name = "what the update of " + whose + " divides by",
       .definition =
           std::string(
               "Adam: P = (1 - beta1^t) (sqrt(v / (1 - beta2^t)) + epsilon), corrections 1 "
               "where the number t of updates is not known; with the v of AMSGrad's maximum; "
               "NAdam without 1 - beta1^t; RAdam with its rectification; Adamax: "
               "(1 - beta1^t) v") +
           (is_adam ? ""
                    : "; RMSprop: sqrt(v) + epsilon, v less the squared mean if centered; Adagrad: "
                      "(sqrt(v) + epsilon) (1 + (t - 1) lr_decay); SGD: 1") +
           "; times the largest learning rate over its own for a parameter whose group has a "
           "smaller one"},
      {.name = "source",
       .type = VariableType::kInt8,
       .long_name = "where second moments v are from",
       .definition = "checkpoint: stored there; recomputed: g^2 + (variance of the samples' "
                     "gradients) / batch_size, or g^2 for the whole data set",
       .flag_meanings = {"none", "checkpoint", "recomputed"}},
      {.name = prefix + "_threshold",
       .long_name = "largest stable preconditioned sharpness of " + whose,
       .definition =
           std::string(
               "(2 + 2 beta1) / ((1 - beta1) learning_rate) of Adam and its variants; NAdam: "
               "by its momenta at that step") +
           (is_adam ? "" : "; SGD and RMSprop: as momentum_threshold; Adagrad: 2 / learning_rate") +
           "; learning_rate is the largest of the groups'"},
      {.name = prefix + "_ratio",
       .long_name = "preconditioned sharpness over " + prefix + "_threshold",
       .definition = "lambda_max_preconditioned / " + prefix + "_threshold"},
      {.name = "robust_diagonal_preconditioned",
       .long_name = "robust condition number of the preconditioned diagonal",
       .definition = "largest |H_ii / P_i| over the lower median of |H_ii / P_i|"},
      {.name = "robust_absolute_preconditioned",
       .long_name = "robust condition number of preconditioned eigenvalue magnitudes",
       .definition = "largest |lambda| over the lower median of |lambda|"}};
  add_setting(all, "beta1", "decay of Adam's first average", "beta1");
  add_setting(all, "beta2", "decay of Adam's second average", "beta2");
  add_setting(all, "epsilon", "what is added to a square root in P", "epsilon");
  const std::vector<Variable> spectrum = spectrum_quantities("_preconditioned", "P^-1/2 H P^-1/2");
  all.insert(all.end(), spectrum.begin(), spectrum.end());
  return all;
}

}  // namespace hesscope::detail
