// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analyzers/internal/stability_settings.h>
#include <hesscope/core/error.h>
#include <hesscope/core/name_list.h>

namespace hesscope::detail {
namespace {

using Field = std::optional<double> OptimizerSettings::*;

bool are_alike(std::span<const OptimizerSettings> groups, Field field) {
  return std::ranges::all_of(
      groups, [&](const auto& group) { return group.*field == groups.front().*field; });
}

// Sentences, each with the first file for which it is true, and the number of such files.
class Remarks {
 public:
  void add(const std::string& file, const std::string& text) {
    const auto found = std::ranges::find(all_, text, &Remark::text);
    if (found != all_.end()) {
      ++found->num_others;
    } else {
      all_.push_back({file, text});
    }
  }

  std::vector<std::string> sentences() const {
    std::vector<std::string> all;
    for (const Remark& remark : all_) {
      all.push_back(fmt::format("{}{}: {}", remark.file, and_more(remark.num_others), remark.text));
    }
    return all;
  }

 private:
  struct Remark {
    std::string file;
    std::string text;
    std::size_t num_others = 0;
  };

  std::vector<Remark> all_;
};

// Why the state cannot be used as the choice asks; empty if it can.
std::string mismatch(const OptimizerState& state, PreconditionerChoice choice) {
  if (choice == PreconditionerChoice::kNone) return {};
  if (!state.obstacle.empty()) return state.obstacle;
  const bool is_other = choice == PreconditionerChoice::kAdam && state.has_second_moments() &&
                        !is_of_adams_family(state.kind);
  return is_other ? fmt::format(
                        "the optimiser's state under '{}' is that of {}, not of Adam "
                        "(`preconditioner` stored takes it as it is)",
                        state.prefix,
                        to_string(state.kind))
                  : std::string();
}

void compare(const OptimizerState& state,
             Field field,
             const std::optional<double>& given,
             const char* name,
             Remarks& remarks) {
  if (!given) return;
  std::vector<double> stored;  // of the groups, each once
  for (const OptimizerSettings& group : state.groups) {
    const std::optional<double>& value = group.*field;
    if (value && std::ranges::find(stored, *value) == stored.end()) stored.push_back(*value);
  }
  if (std::ranges::all_of(stored, [&](double value) { return value == *given; })) return;
  remarks.add(state.file,
              fmt::format("{} {} is taken as given; the checkpoint has {} ('{}')",
                          name,
                          *given,
                          fmt::join(stored, ", "),
                          state.prefix));
}

void remark_on_averages(const OptimizerState& state, const GivenSettings& given, Remarks& remarks) {
  const bool has_steps =
      std::ranges::any_of(state.blocks, [](const auto& block) { return block.step.has_value(); });
  if (!state.has_second_moments() || !is_of_adams_family(state.kind)) return;
  if (!has_steps) {
    return remarks.add(
        state.file,
        fmt::format(
            "how many steps it has made is not known, since no 'step' is stored under '{}': "
            "averages are taken as they are, without the corrections for their start, which "
            "are 1 late in training alone; early in it, the optimiser's sharpness hangs on "
            "them",
            state.prefix));
  }
  const auto is_unknown = [&](const std::optional<double>& value, Field field) {
    return !value &&
           std::ranges::any_of(state.groups, [&](const auto& group) { return !(group.*field); });
  };
  const bool lacks_first = is_unknown(given.beta1, &OptimizerSettings::beta1);
  const bool lacks_second = is_unknown(given.beta2, &OptimizerSettings::beta2);
  if (!lacks_first && !lacks_second) return;
  const std::string assumed =
      lacks_first && lacks_second
          ? fmt::format("beta1 {} and beta2 {} are assumed", kDefaultBeta1, kDefaultBeta2)
      : lacks_first ? fmt::format("beta1 {} is assumed", kDefaultBeta1)
                    : fmt::format("beta2 {} is assumed", kDefaultBeta2);
  remarks.add(state.file,
              fmt::format("{}, since nothing under '{}' says otherwise: early in training the "
                          "optimiser's sharpness hangs on them; give them by `beta1` and `beta2`",
                          assumed,
                          state.prefix));
}

bool ascends(const OptimizerState& state) {
  return std::ranges::any_of(state.groups, &OptimizerSettings::is_maximizing);
}

void remark_on_limit(const OptimizerState& state, Remarks& remarks) {
  if (ascends(state)) {
    remarks.add(state.file,
                fmt::format("the optimiser under '{}' ascends (maximize), so ratios to thresholds "
                            "are left out",
                            state.prefix));
  }
  if (!trains_all(state)) {
    remarks.add(state.file,
                fmt::format("the optimiser under '{}' does not train all parameters, so the "
                            "curvature of all of them is not compared with its thresholds; `edge` "
                            "compares that of the trained ones",
                            state.prefix));
  }
}

void remark_on_settings(const OptimizerState& state, const GivenSettings& given, Remarks& remarks) {
  using S = OptimizerSettings;
  compare(state, &S::learning_rate, given.learning_rate, "learning-rate", remarks);
  compare(state, &S::beta1, given.beta1, "beta1", remarks);
  compare(state, &S::momentum, given.beta1, "beta1 (momentum)", remarks);
  compare(state, &S::beta2, given.beta2, "beta2", remarks);
  compare(state, &S::epsilon, given.epsilon, "epsilon", remarks);
  if (!given.learning_rate && !are_alike(state.groups, &S::learning_rate)) {
    remarks.add(state.file,
                fmt::format("the groups under '{}' have learning rates of their own, so gd_ratio "
                            "and momentum_ratio are left out; `preconditioner` takes each",
                            state.prefix));
  }
  remark_on_limit(state, remarks);
}

// Then P lacks the settings that differ between groups.
void remark_on_open_groups(const OptimizerState& state,
                           const GivenSettings& given,
                           Remarks& remarks) {
  using S = OptimizerSettings;
  const bool is_open =
      is_of_adams_family(state.kind) && state.obstacle.empty() && state.blocks.empty();
  if (!is_open) return;
  const auto differ = [&](Field field, const std::optional<double>& instead) {
    return !instead && !are_alike(state.groups, field);
  };
  if (differ(&S::learning_rate, given.learning_rate) || differ(&S::beta1, given.beta1) ||
      differ(&S::beta2, given.beta2) || differ(&S::epsilon, given.epsilon)) {
    remarks.add(state.file,
                fmt::format("nothing says which parameter is in which of the groups under '{}': "
                            "what is recomputed is without the learning rates and settings in "
                            "which they differ",
                            state.prefix));
  }
}

// Gradients of a tensor that are this small next to those of most tensors are rounding in 32 bits.
constexpr double kStillGradient = 1e-5;

// Tensors whose gradients were next to nothing in training, as those of a bias in front of batch
// normalisation are: their part of P is next to nothing, too.
void remark_on_still_tensors(const OptimizerState& state,
                             std::span<const ParameterBlock> blocks,
                             Remarks& remarks) {
  if (!state.has_second_moments() || state.blocks.size() != blocks.size()) return;
  const std::vector<ParameterBlock> filled = with_entries(blocks);
  std::vector<double> largest;
  for (const ParameterBlock& block : filled) {
    largest.push_back(state.second_moments.segment(block.offset, block.size).maxCoeff());
  }
  if (largest.empty()) return;
  std::vector<double> sorted = largest;
  const auto middle = sorted.begin() + std::ssize(sorted) / 2;
  std::ranges::nth_element(sorted, middle);
  std::vector<std::string> names;
  for (std::size_t b = 0; b < largest.size(); ++b) {
    const bool is_still = largest[b] < kStillGradient * kStillGradient * *middle;
    if (is_still) names.push_back(filled[b].name);
  }
  if (names.empty()) return;
  remarks.add(state.file,
              fmt::format("the second moments of {} under '{}' are next to nothing, as where batch "
                          "normalisation takes a bias off again in training: where the loss here "
                          "depends on it, it dominates P^(-1/2) H P^(-1/2), and a problem file of "
                          "kind 'onnx' can leave it out by 'frozen'",
                          first_names(names, 3),
                          state.prefix));
}

}  // namespace

EffectiveSetting effective(std::span<const OptimizerSettings> groups,
                           Field field,
                           const std::optional<double>& given,
                           const std::optional<double>& fallback) {
  if (given) return {given, SettingSource::kOption};
  const bool is_stored =
      std::ranges::any_of(groups, [&](const auto& group) { return (group.*field).has_value(); });
  if (is_stored && !are_alike(groups, field)) return {{}, SettingSource::kCheckpoint};
  if (is_stored) return {groups.front().*field, SettingSource::kCheckpoint};
  return {fallback, fallback ? SettingSource::kDefault : SettingSource::kNone};
}

OptimizerSettings common_settings(std::span<const OptimizerSettings> groups) {
  if (groups.empty()) return {};
  OptimizerSettings common = groups.front();
  for (const Field field : {&OptimizerSettings::learning_rate,
                            &OptimizerSettings::beta1,
                            &OptimizerSettings::beta2,
                            &OptimizerSettings::epsilon}) {
    if (!are_alike(groups, field)) (common.*field).reset();
  }
  return common;
}

bool trains_all(const OptimizerState& state) {
  return state.num_not_given == 0 && std::ranges::all_of(state.blocks, [](const auto& block) {
           return block.group.has_value();
         });
}

bool has_limit(const OptimizerState& state) { return !ascends(state) && trains_all(state); }

bool is_of_adams_family(OptimizerKind kind) {
  return kind == OptimizerKind::kAdam || kind == OptimizerKind::kAmsgrad ||
         kind == OptimizerKind::kNAdam || kind == OptimizerKind::kRAdam ||
         kind == OptimizerKind::kAdamax;
}

std::vector<std::string> remarks_on_assumed_averages(std::span<const OptimizerState> optimizers,
                                                     const GivenSettings& given) {
  Remarks remarks;
  for (const OptimizerState& state : optimizers) remark_on_averages(state, given, remarks);
  return remarks.sentences();
}

std::vector<std::string> remarks_on_limits(std::span<const OptimizerState> optimizers) {
  Remarks remarks;
  for (const OptimizerState& state : optimizers) remark_on_limit(state, remarks);
  return remarks.sentences();
}

std::vector<std::string> remarks_on_optimizers(std::span<const OptimizerState> optimizers,
                                               std::span<const ParameterBlock> blocks,
                                               const GivenSettings& given,
                                               PreconditionerChoice choice,
                                               bool is_recomputed) {
  Remarks remarks;
  for (const OptimizerState& state : optimizers) {
    if (const std::string reason = mismatch(state, choice); !reason.empty()) {
      if (!is_recomputed) {
        throw InputError(fmt::format(
            "{}: {}; do without it by `preconditioner` none, or ask for what Adam's second moments "
            "would settle at by `second-moments` recomputed",
            state.file,
            reason));
      }
      remarks.add(state.file, reason + "; Adam's second moments are recomputed instead");
    } else if (!state.obstacle.empty() && !given.learning_rate) {
      remarks.add(state.file,
                  state.obstacle + (state.groups.empty()
                                        ? "; no setting is read of it"
                                        : "; its learning rate and its momentum are taken all the "
                                          "same"));
    }
    for (const std::string& warning : state.warnings) remarks.add(state.file, warning);
    remark_on_settings(state, given, remarks);
    if (choice != PreconditionerChoice::kNone) {
      remark_on_averages(state, given, remarks);
      if (!is_recomputed) remark_on_still_tensors(state, blocks, remarks);
    }
    if (is_recomputed) remark_on_open_groups(state, given, remarks);
    if (choice == PreconditionerChoice::kNone || state.blocks.empty() ||
        !(state.has_second_moments() || state.kind == OptimizerKind::kSgd)) {
      continue;
    }
    const std::string obstacle = optimizer_preconditioner(state, given, blocks).obstacle;
    if (!obstacle.empty() && !ascends(state)) {
      remarks.add(
          state.file,
          fmt::format(
              "the optimiser under '{}' has no known threshold: {}", state.prefix, obstacle));
    }
  }
  return remarks.sentences();
}

}  // namespace hesscope::detail
