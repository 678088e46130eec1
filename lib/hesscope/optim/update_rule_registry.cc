// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/optim/adafactor.h>
#include <hesscope/optim/adam.h>
#include <hesscope/optim/gradient_descent.h>
#include <hesscope/optim/lion.h>
#include <hesscope/optim/muon.h>
#include <hesscope/optim/normalized_descent.h>
#include <hesscope/optim/update_rule_registry.h>

namespace hesscope {

std::span<const UpdateRuleKind> update_rule_kinds() {
  static const std::vector<UpdateRuleKind> kinds = {
      gd_kind(),
      sgd_kind(),
      adam_kind(),
      adamw_kind(),
      sign_kind(),
      lion_kind(),
      normalized_kind(),
      adafactor_kind(),
      muon_kind(),
  };
  return kinds;
}

const UpdateRuleKind& find_update_rule_kind(const std::string& name) {
  return find_named(update_rule_kinds(), name, "update rule");
}

std::unique_ptr<UpdateRule> make_update_rule(const std::string& name,
                                             const std::map<std::string, SettingValue>& settings,
                                             std::span<const ParameterBlock> blocks) {
  const UpdateRuleKind& kind = find_update_rule_kind(name);
  return kind.create(Settings::checked(settings, kind.keys, fmt::format("update rule '{}'", name)),
                     blocks);
}

}  // namespace hesscope
