// SPDX-License-Identifier: BSD-3-Clause
#include <utility>
#include <variant>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/growing_list.h>
#include <hesscope/core/internal/setting_fallback.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>
#include <hesscope/optim/adafactor.h>
#include <hesscope/optim/adam.h>
#include <hesscope/optim/gradient_descent.h>
#include <hesscope/optim/lion.h>
#include <hesscope/optim/muon.h>
#include <hesscope/optim/normalized_descent.h>
#include <hesscope/optim/update_rule_registry.h>

namespace hesscope {
namespace {

GrowingList<UpdateRuleKind>& rule_registry() {
  static GrowingList<UpdateRuleKind> kinds({
      gd_kind(),
      sgd_kind(),
      adam_kind(),
      adamw_kind(),
      sign_kind(),
      lion_kind(),
      normalized_kind(),
      adafactor_kind(),
      muon_kind(),
  });
  return kinds;
}

}  // namespace

std::span<const UpdateRuleKind> update_rule_kinds() { return rule_registry().all(); }

void register_update_rule_kind(UpdateRuleKind kind) {
  const auto refuse = [name = printable(kind.name)](const std::string& why) {
    throw PreconditionError(fmt::format("register_update_rule_kind: rule '{}' {}", name, why));
  };
  if (!kind.create) refuse("has no function `create`");
  const std::string problem = detail::kind_problem(
      kind.name, kind.keys, {"rule", "name", "title", "learning_rate", "learning_rates"});
  if (!problem.empty()) refuse(problem);
  for (const SettingKey& key : kind.keys) {
    if (std::holds_alternative<SettingValue>(key.fallback)) continue;
    refuse(fmt::format("has a key '{}' without a fallback", key.name));
  }
  add_kind(rule_registry(), std::move(kind), refuse);
}

const UpdateRuleKind& find_update_rule_kind(const std::string& name) {
  return find_named(update_rule_kinds(), name, "update rule");
}

std::unique_ptr<UpdateRule> make_update_rule(const UpdateRuleKind& kind,
                                             const Settings& settings,
                                             std::span<const ParameterBlock> blocks) {
  if (std::unique_ptr<UpdateRule> rule = kind.create(settings, blocks)) return rule;
  throw PreconditionError(
      fmt::format("update rule '{}': its function `create` made nothing", kind.name));
}

std::unique_ptr<UpdateRule> make_update_rule(const std::string& name,
                                             const std::map<std::string, SettingValue>& settings,
                                             std::span<const ParameterBlock> blocks) {
  const UpdateRuleKind& kind = find_update_rule_kind(name);
  return make_update_rule(
      kind, Settings::checked(settings, kind.keys, fmt::format("update rule '{}'", name)), blocks);
}

}  // namespace hesscope
