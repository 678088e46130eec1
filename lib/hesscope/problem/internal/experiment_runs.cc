// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/suggest.h>
#include <hesscope/optim/update_rule_registry.h>
#include <hesscope/problem/experiment_keys.h>
#include <hesscope/problem/internal/experiment_runs.h>

namespace hesscope::detail {
namespace {

const UpdateRuleKind& take_rule(TomlTable& table) {
  return find_update_rule_kind(take_kind(table, "[[run]]", names_of(update_rule_kinds()), "rule"));
}

// `learning_rate`, or those in `learning_rates`, each of which makes a run.
std::vector<double> rates_from(const TomlTable& table, const Settings& settings) {
  const std::string one = "learning_rate";
  const std::string many = "learning_rates";
  const bool is_list = table.locations.contains(many);
  if (is_list == settings.has(one)) {
    refuse(table.place(is_list ? many : one),
           "[[run]] needs either 'learning_rate' or a list 'learning_rates'");
  }
  std::vector<double> rates;
  if (is_list) {
    const auto found = table.lists.find(many);
    const std::string expected = "'learning_rates' must be a list of different numbers";
    if (found == table.lists.end() || found->second.empty()) refuse(table.place(many), expected);
    for (const SettingValue& value : found->second) {
      if (const auto* real = std::get_if<double>(&value)) {
        rates.push_back(*real);
      } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
        rates.push_back(static_cast<double>(*integer));
      } else {
        refuse(table.place(many), expected);
      }
    }
    if (std::set<double>(rates.begin(), rates.end()).size() < rates.size()) {
      refuse(table.place(many), expected);
    }
  } else {
    rates.push_back(settings.real(one));
  }
  for (const double rate : rates) {
    if (!(rate >= 0 && std::isfinite(rate))) {
      refuse(table.place(is_list ? many : one),
             fmt::format("'{}' must be at least 0, got {}", is_list ? many : one, rate));
    }
  }
  return rates;
}

std::vector<ExperimentRun> runs_of(TomlTable table) {
  const UpdateRuleKind& kind = take_rule(table);
  std::vector<SettingKey> keys = kind.keys;
  for (SettingKey& key : run_keys()) keys.push_back(std::move(key));
  const std::string context = fmt::format("[[run]] with rule '{}'", kind.name);
  const Settings all = checked(table, keys, context, {"learning_rates"});
  const std::string name = all.text("name");
  require_file_name(name, "a run", table.place("name"));
  std::map<std::string, SettingValue> settings = all.values();
  settings.erase("name");
  settings.erase("title");
  settings.erase("learning_rate");
  const Settings of_rule = Settings::checked(settings, kind.keys, context, table.locations);
  make_update_rule(kind, of_rule, {});  // refuses numbers that are out of range
  std::vector<ExperimentRun> runs;
  const bool is_family = table.locations.contains("learning_rates");
  const std::string title = all.has("title") ? all.text("title") : name;
  for (const double rate : rates_from(table, all)) {
    runs.push_back({.name = is_family ? fmt::format("{}-{}", name, rate) : name,
                    .family = name,
                    .title = is_family ? fmt::format("{}, {}", title, rate) : title,
                    .rule = kind.name,
                    .settings = of_rule,
                    .learning_rate = rate});
  }
  return runs;
}

}  // namespace

std::vector<ExperimentRun> runs_from(const TomlTable& root) {
  const auto found = root.table_lists.find("run");
  if (found == root.table_lists.end()) {
    refuse(root.place("run"), "needs at least one table [[run]]");
  }
  std::vector<ExperimentRun> runs;
  std::set<std::string> names;
  for (const TomlTable& table : found->second) {
    for (ExperimentRun& run : runs_of(table)) {
      if (!names.insert(run.name).second) {
        refuse(table.place("name"), fmt::format("there are two runs named '{}'", run.name));
      }
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

}  // namespace hesscope::detail
