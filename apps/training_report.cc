// SPDX-License-Identifier: BSD-3-Clause
#include "training_report.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/ascii.h>
#include <hesscope/problem/stored_optimizer.h>

#include "table.h"

namespace hesscope::cli {
namespace {

using Value = decltype(io::FileValue::value);

std::string text_of(const Value& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, double>) {
          return number_text(v);
        } else {
          return fmt::format("{}", v);
        }
      },
      value);
}

// Values besides the tensors that do not belong to an optimiser; an optimiser is recognised by its
// settings.
std::vector<io::FileValue> other_values(const io::TensorFile& file,
                                        const std::vector<StoredOptimizer>& optimizers) {
  std::vector<io::FileValue> values = file.values();
  std::erase_if(values, [&](const io::FileValue& value) {
    return std::ranges::any_of(optimizers, [&](const StoredOptimizer& optimizer) {
      return value.name.starts_with(optimizer.prefix + "param_groups.") ||
             value.name.starts_with(optimizer.prefix + "state.");
    });
  });
  return values;
}

// The elements of a list are shown in one line.
std::vector<std::vector<std::string>> rows_of(const std::vector<io::FileValue>& values) {
  constexpr std::size_t kMaxShown = 3;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0, end = 0; i < values.size(); i = end) {
    const std::string& name = values[i].name;
    const std::size_t dot = name.rfind('.');
    const std::string_view stem = std::string_view(name).substr(0, dot + 1);
    const auto is_element = [&](const io::FileValue& value) {
      return value.name.starts_with(stem) &&
             is_all_digits(std::string_view(value.name).substr(stem.size()));
    };
    end = i + 1;
    if (dot == std::string::npos || !is_element(values[i])) {
      rows.push_back({name, text_of(values[i].value)});
      continue;
    }
    while (end < values.size() && is_element(values[end])) ++end;
    std::vector<std::string> shown;
    for (std::size_t k = i; k < std::min(end, i + kMaxShown); ++k) {
      shown.push_back(text_of(values[k].value));
    }
    rows.push_back({name.substr(0, dot),
                    fmt::format("{}{}",
                                fmt::join(shown, ", "),
                                end - i > kMaxShown ? fmt::format(", ... ({} values)", end - i)
                                                    : std::string())});
  }
  return rows;
}

std::string words_for(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return "SGD";
    case OptimizerKind::kAdam:
      return "Adam or AdamW";
    case OptimizerKind::kAmsgrad:
      return "AMSGrad";
    case OptimizerKind::kNAdam:
      return "NAdam";
    case OptimizerKind::kRAdam:
      return "RAdam";
    case OptimizerKind::kAdamax:
      return "Adamax";
    case OptimizerKind::kRmsprop:
      return "RMSprop";
    case OptimizerKind::kAdagrad:
      return "Adagrad";
    case OptimizerKind::kNone:
    case OptimizerKind::kUnknown:
      break;
  }
  return "an optimiser of unknown kind";
}

// The number of steps of its parameters: one number, or the least and the most.
std::optional<std::pair<double, double>> steps_of(const StoredOptimizer& optimizer) {
  std::optional<std::pair<double, double>> steps;
  for (const auto& [name, entry] : optimizer.entries) {
    const auto step = entry.numbers.find("step");
    if (step == entry.numbers.end()) continue;
    if (!steps) steps = {step->second, step->second};
    steps = {std::min(steps->first, step->second), std::max(steps->second, step->second)};
  }
  return steps;
}

std::set<std::string> fields_of(const StoredOptimizer& optimizer) {
  std::set<std::string> fields;
  for (const auto& [name, entry] : optimizer.entries) {
    for (const auto& [field, tensor] : entry.tensors) fields.insert(field);
  }
  return fields;
}

// Settings that all groups have in common are in one line, as those of a single group.
std::string optimizer_text(const StoredOptimizer& optimizer) {
  std::string text = fmt::format("{}: {}, {} parameters",
                                 optimizer.prefix.empty()
                                     ? std::string("the optimiser")
                                     : optimizer.prefix.substr(0, optimizer.prefix.size() - 1),
                                 words_for(optimizer.kind),
                                 optimizer.num_parameters());
  if (optimizer.groups.size() > 1) text += fmt::format(" in {} groups", optimizer.groups.size());
  if (const auto steps = steps_of(optimizer)) {
    text += steps->first == steps->second
                ? fmt::format(", step {}", steps->first)
                : fmt::format(", steps {} to {}", steps->first, steps->second);
  }
  const std::set<std::string> fields = fields_of(optimizer);
  text += fields.empty() ? "; it keeps nothing for them\n"
                         : fmt::format("; it keeps {}\n", fmt::join(fields, ", "));
  for (std::size_t g = 0; g < optimizer.groups.size(); ++g) {
    std::vector<std::string> settings;
    for (const auto& [key, value] : optimizer.groups[g].numbers) {
      settings.push_back(fmt::format("{} {}", key, number_text(value)));
    }
    text +=
        fmt::format("  {}{}\n",
                    optimizer.groups.size() > 1
                        ? fmt::format("group {} ({}): ", g, optimizer.groups[g].parameters.size())
                        : std::string(),
                    fmt::join(settings, ", "));
  }
  if (!optimizer.obstacle.empty()) text += fmt::format("  not used: {}\n", optimizer.obstacle);
  return text;
}

}  // namespace

std::string training_text(const io::TensorFile& file) {
  const std::vector<StoredOptimizer> optimizers = find_stored_optimizers(file);
  std::string text;
  for (const StoredOptimizer& optimizer : optimizers) {
    text += fmt::format("\n{}", optimizer_text(optimizer));
  }
  const std::vector<std::vector<std::string>> rows = rows_of(other_values(file, optimizers));
  if (!rows.empty()) {
    text += fmt::format("\nbesides the tensors\n{}", table_text(rows, rows.front().size()));
  }
  return text;
}

Json training_json(const io::TensorFile& file) {
  const std::vector<StoredOptimizer> found = find_stored_optimizers(file);
  Json optimizers = Json::list();
  for (const StoredOptimizer& optimizer : found) {
    Json groups = Json::list();
    for (const StoredOptimizer::Group& group : optimizer.groups) {
      Json settings = Json::object();
      for (const auto& [key, value] : group.numbers) settings[key] = value;
      groups.push_back({{"parameters", group.parameters}, {"settings", settings}});
    }
    Json entry = {{"prefix", optimizer.prefix},
                  {"kind", to_string(optimizer.kind)},
                  {"parameters", optimizer.num_parameters()},
                  {"groups", groups},
                  {"keeps", fields_of(optimizer)}};
    if (const auto steps = steps_of(optimizer)) {
      entry["steps"] = std::vector<double>{steps->first, steps->second};
    }
    if (!optimizer.obstacle.empty()) entry["obstacle"] = optimizer.obstacle;
    optimizers.push_back(std::move(entry));
  }
  Json values = Json::object();
  for (const io::FileValue& value : other_values(file, found)) {
    values[value.name] = std::visit([](const auto& v) { return Json(v); }, value.value);
  }
  return {{"values", values}, {"optimizers", optimizers}};
}

}  // namespace hesscope::cli
