// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/problem/internal/optimizer_kinds.h>

namespace hesscope::detail {
namespace {

using Names = std::set<std::string>;

// Settings that do not affect the update itself, only how it is computed, and notes of schedulers
// and users.
const Names kIdleKeys = {"lr",
                         "weight_decay",
                         "maximize",
                         "foreach",
                         "capturable",
                         "differentiable",
                         "fused",
                         "decoupled_weight_decay",
                         "initial_lr",
                         "max_lr",
                         "min_lr",
                         "base_momentum",
                         "max_momentum",
                         "swa_lr",
                         "name",
                         "group_name"};

struct Rule {
  OptimizerKind kind;
  Names keys;    // all must be there
  Names fields;  // what it may keep for a parameter, besides "step"
};

// As written by torch.optim of PyTorch 1.6 to 2.9; the first match counts.
const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {OptimizerKind::kNAdam,
       {"betas.0", "betas.1", "eps", "momentum_decay"},
       {"exp_avg", "exp_avg_sq", "mu_product"}},
      {OptimizerKind::kAdam,
       {"betas.0", "betas.1", "eps", "amsgrad"},
       {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}},
      {OptimizerKind::kRmsprop,
       {"alpha", "eps", "centered", "momentum"},
       {"square_avg", "grad_avg", "momentum_buffer"}},
      {OptimizerKind::kAdagrad, {"lr_decay", "eps", "initial_accumulator_value"}, {"sum"}},
      {OptimizerKind::kSgd, {"momentum", "dampening", "nesterov"}, {"momentum_buffer"}},
  };
  return all;
}

// Two with the same settings, and no others: distinguished by their state.
const Rule kAdamax = {
    OptimizerKind::kAdamax, {"betas.0", "betas.1", "eps", "weight_decay"}, {"exp_avg", "exp_inf"}};
const Rule kRAdam = {OptimizerKind::kRAdam,
                     {"betas.0", "betas.1", "eps", "weight_decay"},
                     {"exp_avg", "exp_avg_sq"}};

bool includes(const Names& all, const Names& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

// Muon and Adafactor, from `hesscope train` and from PyTorch: they do not divide by a diagonal, and
// their squares are not kept for all parameters, or not separately for each.
bool has_no_diagonal(const Names& keys) {
  return includes(keys, {"momentum", "nesterov", "ns_steps"}) ||
         includes(keys, {"beta2_decay", "eps.0", "eps.1", "d"});
}

Names keys_of(const StoredOptimizer::Group& group) {
  Names keys;
  for (const auto& [key, value] : group.numbers) keys.insert(key);
  return keys;
}

Names fields_of(const StoredOptimizer& optimizer) {
  Names fields;
  for (const auto& [parameter, entry] : optimizer.entries) {
    for (const auto& [field, tensor] : entry.tensors) fields.insert(field);
    for (const auto& [field, number] : entry.numbers) fields.insert(field);
  }
  fields.erase("step");
  return fields;
}

Names unknown_keys(const Names& keys, const Names& known) {
  Names unknown;
  for (const std::string& key : keys) {
    if (!known.contains(key) && !kIdleKeys.contains(key)) unknown.insert(key);
  }
  return unknown;
}

const Rule* rule_of(const Names& keys, const Names& fields) {
  for (const Rule& rule : rules()) {
    if (includes(keys, rule.keys)) return &rule;
  }
  if (!includes(keys, kRAdam.keys) || !unknown_keys(keys, kRAdam.keys).empty()) return nullptr;
  if (fields.contains("exp_inf")) return &kAdamax;
  return fields.contains("exp_avg_sq") ? &kRAdam : nullptr;
}

OptimizerSettings settings_of(const std::map<std::string, double>& numbers) {
  const auto number = [&](const char* key) {
    const auto found = numbers.find(key);
    const bool is_there = found != numbers.end() && is_usable_setting(key, found->second);
    return is_there ? std::optional(found->second) : std::nullopt;
  };
  OptimizerSettings settings = {.learning_rate = number("lr"),
                                .beta1 = number("betas.0"),
                                .beta2 = number("betas.1"),
                                .epsilon = number("eps"),
                                .momentum = number("momentum"),
                                .dampening = number("dampening"),
                                .momentum_decay = number("momentum_decay"),
                                .learning_rate_decay = number("lr_decay"),
                                .weight_decay = number("weight_decay")};
  settings.is_nesterov = number("nesterov").value_or(0) != 0;
  settings.is_centered = number("centered").value_or(0) != 0;
  settings.is_maximizing = number("maximize").value_or(0) != 0;
  if (const auto decoupled = number("decoupled_weight_decay")) {
    settings.is_decoupled = *decoupled != 0;
  }
  return settings;
}

// Without any settings: recognised by the fields.
void recognise_by_fields(StoredOptimizer& optimizer, const Names& fields) {
  const auto are_in = [&](const Names& known) { return includes(known, fields); };
  if (fields.empty()) {
    optimizer.kind = OptimizerKind::kUnknown;
  } else if (fields.contains("exp_avg_sq") && are_in({"exp_avg", "exp_avg_sq"})) {
    optimizer.kind = OptimizerKind::kAdam;
  } else if (fields.contains("max_exp_avg_sq") &&
             are_in({"exp_avg", "exp_avg_sq", "max_exp_avg_sq"})) {
    optimizer.kind = OptimizerKind::kAmsgrad;
  } else if (are_in({"momentum_buffer"})) {
    optimizer.kind = OptimizerKind::kSgd;
  } else if (!are_in({"exp_avg"})) {  // Lion's only field is not a second moment
    optimizer.obstacle =
        fmt::format("it keeps {}, and nothing says which optimiser it is", fmt::join(fields, ", "));
  }
}

}  // namespace

bool is_usable_setting(std::string_view key, double value) {
  return std::isfinite(value) && (key != "lr" || value >= 0);
}

bool is_moment_field(std::string_view name) {
  return std::ranges::find(kMomentFields, name) != kMomentFields.end();
}

void recognise_kind(StoredOptimizer& optimizer) {
  const Names fields = fields_of(optimizer);
  if (optimizer.groups.empty()) return recognise_by_fields(optimizer, fields);
  const Names keys = keys_of(optimizer.groups.front());
  bool is_amsgrad = false;
  for (StoredOptimizer::Group& group : optimizer.groups) {
    group.settings = settings_of(group.numbers);
    const auto amsgrad = group.numbers.find("amsgrad");
    is_amsgrad = is_amsgrad || (amsgrad != group.numbers.end() && amsgrad->second != 0);
  }
  const Rule* const rule = rule_of(keys, fields);
  if (rule == nullptr) {
    const bool keeps_no_squares = includes({"exp_avg", "momentum_buffer"}, fields);
    if (!keeps_no_squares && !has_no_diagonal(keys)) {
      optimizer.obstacle = fmt::format(
          "which optimiser it is cannot be inferred from its settings ({}) and what it "
          "keeps ({})",
          fmt::join(keys, ", "),
          fmt::join(fields, ", "));
    }
    return;
  }
  optimizer.kind = rule->kind;
  for (const std::string& key : unknown_keys(keys, rule->keys))
    optimizer.unknown_keys.push_back(key);
  if (!includes(rule->fields, fields)) {
    Names unknown;
    std::ranges::set_difference(fields, rule->fields, std::inserter(unknown, unknown.end()));
    optimizer.obstacle = fmt::format("its settings are those of {}, which does not keep {}",
                                     to_string(rule->kind),
                                     fmt::join(unknown, ", "));
  }
  if (rule->kind != OptimizerKind::kAdam || !is_amsgrad) return;
  optimizer.kind = OptimizerKind::kAmsgrad;
  const bool is_mixed = std::ranges::any_of(optimizer.groups, [](const auto& group) {
    const auto amsgrad = group.numbers.find("amsgrad");
    return amsgrad == group.numbers.end() || amsgrad->second == 0;
  });
  if (is_mixed) optimizer.obstacle = "some of its groups are AMSGrad's and some are not";
}

}  // namespace hesscope::detail
