// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of update rules.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>
#include <hesscope/optim/update_rule.h>

namespace hesscope {

/// An update rule as users name and configure it.
struct UpdateRuleKind {
  std::string name;
  std::string summary;           ///< one line for help
  std::vector<SettingKey> keys;  ///< each has a fallback
  /// @throws ConfigError where a number is out of its range.
  std::function<std::unique_ptr<UpdateRule>(const Settings&, std::span<const ParameterBlock>)>
      create;
};

std::span<const UpdateRuleKind> update_rule_kinds();

/// The kind of this name. @throws ConfigError with the nearest name and the list.
const UpdateRuleKind& find_update_rule_kind(const std::string& name);

/// A fresh rule for parameters in these blocks; what is not set has its fallback.
/// @throws ConfigError where the name, a key or a value is none of the rule's.
std::unique_ptr<UpdateRule> make_update_rule(const std::string& name,
                                             const std::map<std::string, SettingValue>& settings,
                                             std::span<const ParameterBlock> blocks);

}  // namespace hesscope
