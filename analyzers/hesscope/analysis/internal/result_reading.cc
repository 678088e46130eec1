// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <variant>

#include <fmt/format.h>

#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/core/error.h>

namespace hesscope::detail {
namespace {

template <typename T>
const T* find_attribute(const io::ResultReader& result, const char* name) {
  const AttributeValue* value = result.find_attribute("", name);
  return value == nullptr ? nullptr : std::get_if<T>(value);
}

}  // namespace

io::RunConfiguration stated(const io::RunConfiguration& configuration) {
  constexpr std::size_t kMaxBytes = std::size_t{32} << 10;
  if (io::text_of(configuration).size() <= kMaxBytes) return configuration;
  io::RunConfiguration kept;
  io::RunConfiguration inputs;
  for (const auto& each : configuration) {
    const bool is_input = each.first.starts_with("checkpoint ") ||
                          each.first.starts_with("sha256 of ") ||
                          each.first.starts_with("expected loss of ");
    (is_input ? inputs : kept).push_back(each);
  }
  kept.emplace_back("inputs", io::digest_of(inputs));
  return kept;
}

bool is_result_of(const std::filesystem::path& path, const io::RunConfiguration& configuration) {
  if (!io::is_result_file(path)) return false;
  try {
    const io::ResultReader result(path);
    const auto* digest = find_attribute<std::string>(result, kConfigurationDigest);
    return digest != nullptr && *digest == io::digest_of(configuration);
  } catch (const InputError&) {
    return false;  // not a hesscope result, or damaged
  }
}

bool is_result_about(const std::filesystem::path& path, const std::string& subject) {
  if (!io::is_result_file(path)) return false;
  try {
    const io::ResultReader result(path);
    const auto* title = find_attribute<std::string>(result, kTitle);
    return title != nullptr && title->starts_with(fmt::format("hesscope {} ", subject));
  } catch (const InputError&) {
    return false;
  }
}

std::string difference_of(const std::filesystem::path& path,
                          const io::RunConfiguration& configuration) {
  constexpr const char* kUnreadable = "its unreadable configuration";
  if (!io::is_result_file(path)) return kUnreadable;
  try {
    const io::ResultReader result(path);
    const auto* digest = find_attribute<std::string>(result, kConfigurationDigest);
    const auto* text = find_attribute<std::string>(result, kConfiguration);
    if (digest == nullptr || text == nullptr) return kUnreadable;
    if (*digest == io::digest_of(configuration)) return "";
    const std::string difference = io::difference_from(stated(configuration), *text);
    return difference.empty() ? kUnreadable : difference;
  } catch (const InputError&) {
    return kUnreadable;
  }
}

bool is_conclusive_result(const io::ResultReader& result) {
  const auto* value = find_attribute<std::int8_t>(result, kConclusive);
  return value != nullptr && *value == 1;
}

bool is_of_diverged_run(const io::ResultReader& result) {
  const auto* value = find_attribute<std::int8_t>(result, kHasDiverged);
  return value != nullptr && *value == 1;
}

std::vector<std::string> warnings_of_result(const io::ResultReader& result) {
  std::vector<std::string> warnings;
  const auto* text = find_attribute<std::string>(result, kWarnings);
  if (text == nullptr) return warnings;
  for (std::size_t first = 0; first <= text->size();) {
    const std::size_t end = std::min(text->find('\n', first), text->size());
    warnings.push_back(text->substr(first, end - first));
    first = end + 1;
  }
  return warnings;
}

void read_conclusion(const io::ResultReader& result, CheckpointRunResult& summary) {
  summary.warnings = warnings_of_result(result);
  summary.is_conclusive = is_conclusive_result(result);
  summary.is_done_already = true;
}

std::optional<CheckpointOrder> order_of_result(const io::ResultReader& result) {
  const auto* text = find_attribute<std::string>(result, kConfiguration);
  if (text == nullptr) return std::nullopt;
  const std::optional<std::string_view> order = io::find_value(*text, kOrderKey);
  if (order == kOrderGiven) return CheckpointOrder::kGiven;
  if (order == kOrderByStep) return CheckpointOrder::kByStep;
  return std::nullopt;
}

std::vector<Status> read_statuses(const io::ResultReader& result,
                                  const std::string& group,
                                  const std::string& name,
                                  std::size_t count) {
  if (result.find(group, status_name(name)) == nullptr)
    return std::vector<Status>(count, Status::kOk);
  std::vector<Status> statuses;
  for (const std::int64_t code : result.read_integers(group, status_name(name))) {
    const bool is_known = code >= 0 && code < std::ssize(kStatusMeanings);
    statuses.push_back(is_known ? static_cast<Status>(code) : Status::kFailed);
  }
  return statuses;
}

std::vector<Variable> real_numbers(const std::vector<std::string>& names) {
  std::vector<Variable> quantities(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) quantities[i].name = names[i];
  return quantities;
}

std::vector<Group> read_records(const io::ResultReader& result,
                                const std::string& group,
                                const std::vector<Variable>& quantities,
                                std::size_t count) {
  std::vector<Group> records(count, Group{.name = group, .variables = quantities});
  for (const Variable& quantity : quantities) {
    const auto require = [&](std::size_t found, bool may_be_rows) {
      if (found == count || (may_be_rows && found > count && found % count == 0)) return;
      throw InputError(fmt::format("{}: variable '{}/{}': {} values where {} are expected",
                                   result.path().string(),
                                   group,
                                   quantity.name,
                                   found,
                                   count));
    };
    const std::vector<Status> statuses = read_statuses(result, group, quantity.name, count);
    require(statuses.size(), false);
    std::vector<double> reals;
    std::vector<std::int64_t> counts;
    if (quantity.type == VariableType::kDouble) {
      reals = result.read_doubles(group, quantity.name);
      require(reals.size(), true);
    } else {
      counts = result.read_integers(group, quantity.name);
      require(counts.size(), quantity.type == VariableType::kInt64);
    }
    for (std::size_t i = 0; i < count; ++i) {
      Variable& variable = records[i][quantity.name];
      if (quantity.type == VariableType::kInt8) {  // not set if the value is none of these
        const bool is_said = counts[i] >= 0 && counts[i] < std::ssize(quantity.flag_meanings);
        if (is_said) variable.set_flag(static_cast<std::int8_t>(counts[i]));
      } else if (!counts.empty() && statuses[i] == Status::kOk) {
        variable.set_count(counts[i * (counts.size() / count)]);
      } else if (!reals.empty()) {
        variable.set_numbers({reals[i * (reals.size() / count)]}, {statuses[i]});
      } else {
        variable.set_missing(statuses[i]);
      }
    }
  }
  return records;
}

Group read_record(const io::ResultReader& result,
                  const std::string& group,
                  const std::vector<Variable>& quantities) {
  return read_records(result, group, quantities, 1).front();
}

}  // namespace hesscope::detail
