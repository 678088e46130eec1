// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of update rules: those built in, and those that a program adds.
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
  /// Of no blocks, too, when an experiment is read.
  /// @throws ConfigError where a number is out of its range.
  std::function<std::unique_ptr<UpdateRule>(const Settings&, std::span<const ParameterBlock>)>
      create = {};
};

/// In the order of their registration, those built in first. Valid for good, and without kinds that
/// are registered later.
std::span<const UpdateRuleKind> update_rule_kinds();

/// Adds a kind for experiment files and make_update_rule() to name, for this process. Safe to call
/// concurrently with all that looks at kinds.
/// @throws PreconditionError if there is one of this name, it has no name or no `create`, or two of
///         its keys, or one and one of [[run]] (`rule`, `name`, `title`, `learning_rate`,
///         `learning_rates`), have the same name, or one has no fallback of its type.
void register_update_rule_kind(UpdateRuleKind kind);

/// The kind of this name. @throws ConfigError with the nearest name and the list.
const UpdateRuleKind& find_update_rule_kind(const std::string& name);

/// A fresh rule of a kind for parameters in these blocks. @throws as UpdateRuleKind::create;
/// PreconditionError where that makes none.
std::unique_ptr<UpdateRule> make_update_rule(const UpdateRuleKind& kind,
                                             const Settings& settings,
                                             std::span<const ParameterBlock> blocks);

/// The same by its name; what is not set has its fallback.
/// @throws ConfigError where the name, a key or a value is none of the rule's.
std::unique_ptr<UpdateRule> make_update_rule(const std::string& name,
                                             const std::map<std::string, SettingValue>& settings,
                                             std::span<const ParameterBlock> blocks);

}  // namespace hesscope
