// SPDX-License-Identifier: BSD-3-Clause
//
// The list of update rules: the built-in ones and those that a program adds.
//
//   hesscope::register_update_rule_kind({.name = "signum", .keys = ..., .create = make_signum});
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
  std::string summary = {};           ///< one line for help
  std::vector<SettingKey> keys = {};  ///< each has a fallback
  /// Is also called without blocks, when an experiment is read.
  /// @throws ConfigError if a number is out of its range.
  std::function<std::unique_ptr<UpdateRule>(const Settings&, std::span<const ParameterBlock>)>
      create = {};
};

/// In the order of their registration, built-in ones first. The span stays valid forever and does
/// not include kinds registered later.
std::span<const UpdateRuleKind> update_rule_kinds();

/// Adds a kind that experiment files and make_update_rule() can name, for this process. Safe to
/// call concurrently with anything that looks at kinds.
/// @throws PreconditionError if there already is a kind of this name, the name is empty, `create`
///         is missing, a key occurs twice or equals one of [[run]] (`rule`, `name`, `title`,
///         `learning_rate`, `learning_rates`), or a key lacks a fallback of its type.
void register_update_rule_kind(UpdateRuleKind kind);

/// The kind of this name. @throws ConfigError with the nearest name and the list.
const UpdateRuleKind& find_update_rule_kind(const std::string& name);

/// A new rule of a kind for parameters in these blocks. @throws as UpdateRuleKind::create;
/// PreconditionError if that returns none.
std::unique_ptr<UpdateRule> make_update_rule(const UpdateRuleKind& kind,
                                             const Settings& settings,
                                             std::span<const ParameterBlock> blocks);

/// The same by name; settings that are absent take their fallbacks.
/// @throws ConfigError if the name, a key or a value is unknown.
std::unique_ptr<UpdateRule> make_update_rule(const std::string& name,
                                             const std::map<std::string, SettingValue>& settings,
                                             std::span<const ParameterBlock> blocks);

}  // namespace hesscope
