// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/parse_number.h>
#include <hesscope/problem/internal/optimizer_kinds.h>
#include <hesscope/problem/stored_optimizer.h>

namespace hesscope {
namespace {

using Parts = std::vector<std::string_view>;

Parts split(std::string_view name) {
  Parts parts;
  while (true) {
    const std::size_t end = std::min(name.find('.'), name.size());
    parts.push_back(name.substr(0, end));
    if (end == name.size()) return parts;
    name.remove_prefix(end + 1);
  }
}

std::string joined(std::span<const std::string_view> parts) {
  return fmt::format("{}", fmt::join(parts, "."));
}

std::string prefix_of(std::span<const std::string_view> parts) {
  return parts.empty() ? std::string() : joined(parts) + '.';
}

std::optional<std::size_t> index_of(std::string_view digits) {
  constexpr std::size_t kMaxDigits = 9;
  return digits.size() <= kMaxDigits ? parse_number<std::size_t>(digits) : std::nullopt;
}

// "optimizer", "Optim", "optimizer_states", "opt": names that users choose.
bool is_word_for_optimizer(std::string_view part) {
  const std::string lower = lower_case(std::string(part));
  return lower.starts_with("optim") || lower == "opt" || lower == "opt_state";
}

// What is found under one prefix, in order of occurrence.
struct Draft {
  struct Group {
    std::map<std::string, double> numbers;
    std::map<std::size_t, std::string> parameters;
    std::map<std::size_t, std::string> names;
  };

  std::map<std::size_t, Group> groups;
  std::map<std::string, Group> groups_by_name;  // one parameter each
  std::map<std::string, StoredOptimizer::Entry> entries;
  std::optional<double> common_step;
};

class Finder {
 public:
  explicit Finder(const io::TensorFile& file) : file_(file) {}

  std::vector<StoredOptimizer> find() && {
    for (const io::FileValue& each : file_.values()) {
      if (const auto* text = std::get_if<std::string>(&each.value)) {
        add_text(each.name, *text);
      } else {
        add_number(each.name, number_of(each));
      }
    }
    for (const io::TensorInfo& tensor : file_.tensors()) add_tensor(tensor);
    for (const io::UnreadableTensor& tensor : file_.unreadable()) {
      if (const auto [entry, field] = entry_at(split(tensor.name)); entry != nullptr) {
        add_odd(*entry, field, tensor.reason);
      }
    }
    std::vector<StoredOptimizer> found;
    for (auto& [prefix, draft] : drafts_) {
      if (!is_optimizer(draft)) continue;
      found.push_back(finished(prefix, std::move(draft)));
    }
    return found;
  }

 private:
  static double number_of(const io::FileValue& value) {
    return std::visit(
        [](const auto& v) -> double {
          if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>) {
            return 0;
          } else {
            return static_cast<double>(v);
          }
        },
        value.value);
  }

  // Whether it has parameters, or settings of parameters, that cannot be mistaken for anything
  // else.
  static bool is_optimizer(const Draft& draft) {
    const auto has_moments = [](const auto& entry) {
      const auto is_moment = [](const auto& field) { return detail::is_moment_field(field.first); };
      return std::ranges::any_of(entry.second.tensors, is_moment) ||
             std::ranges::any_of(entry.second.odd, is_moment);
    };
    const auto has_rate = [](const auto& group) { return group.second.numbers.contains("lr"); };
    return std::ranges::any_of(draft.entries, has_moments) ||
           std::ranges::any_of(draft.groups, has_rate) ||
           std::ranges::any_of(draft.groups_by_name, has_rate);
  }

  static std::optional<std::size_t> last_of(const Parts& parts, std::string_view word) {
    for (std::size_t i = parts.size(); i-- > 0;) {
      if (parts[i] == word) return i;
    }
    return std::nullopt;
  }

  // PREFIX.param_groups.G.KEY, or .NAME.KEY: the group and the key.
  std::pair<Draft::Group*, std::string> group_at(const Parts& parts) {
    const std::optional<std::size_t> at = last_of(parts, "param_groups");
    if (!at || *at + 2 >= parts.size()) return {nullptr, {}};
    Draft& draft = drafts_[prefix_of(std::span(parts).first(*at))];
    const auto rest = std::span(parts).subspan(*at + 1);
    // "0.lr" and "0.betas.1", but not "0.weight.lr" of a parameter that is named so.
    const bool is_numbered = rest.size() == 2 || (rest.size() == 3 && index_of(rest[2]));
    if (const auto number = index_of(rest[0]); number && is_numbered) {
      return {&draft.groups[*number], joined(rest.subspan(1))};
    }
    const std::size_t length = rest.size() > 2 && rest[rest.size() - 2] == "betas" ? 2 : 1;
    return {&draft.groups_by_name[joined(rest.first(rest.size() - length))],
            joined(rest.last(length))};
  }

  // PREFIX.state.N.FIELD or .NAME.FIELD: the entry and the field, if it has this form.
  std::pair<StoredOptimizer::Entry*, std::string> entry_at(const Parts& parts) {
    std::optional<std::size_t> at = last_of(parts, "state");
    if (!at) return {nullptr, {}};
    const std::string field(parts.back());
    if (*at + 3 == parts.size() && index_of(parts[*at + 1])) {
      return {&drafts_[prefix_of(std::span(parts).first(*at))].entries[std::string(parts[*at + 1])],
              field};
    }
    at = static_cast<std::size_t>(std::ranges::find(parts, "state") - parts.begin());
    if (*at + 3 > parts.size() || !(field == "step" || detail::is_moment_field(field))) {
      return {nullptr, {}};
    }
    // Others also use the name of Adagrad's field.
    const bool is_optimizers =
        std::ranges::any_of(std::span(parts).first(*at), is_word_for_optimizer);
    if (field == "sum" && !is_optimizers) return {nullptr, {}};
    const std::string name = joined(std::span(parts).subspan(*at + 1, parts.size() - *at - 2));
    return {&drafts_[prefix_of(std::span(parts).first(*at))].entries[name], field};
  }

  // An invalid step is refused where it is used.
  static void add_odd(StoredOptimizer::Entry& entry,
                      const std::string& field,
                      const std::string& reason) {
    if (field == "step" || field == "mu_product") entry.numbers[field] = kNaN;
    entry.odd[field] = reason;
  }

  // PREFIX.state.N.FIELD.MORE: a value within what should be a tensor or a number.
  void add_within(const Parts& parts) {
    const std::optional<std::size_t> at = last_of(parts, "state");
    if (!at || *at + 3 >= parts.size() || !index_of(parts[*at + 1])) return;
    const std::string field(parts[*at + 2]);
    if (field != "step" && !detail::is_moment_field(field)) return;
    const auto [entry, name] = entry_at({parts.begin(), parts.begin() + *at + 3});
    if (entry != nullptr) add_odd(*entry, field, "it is neither a tensor nor a number");
  }

  void add_number(const std::string& name, double value) {
    const Parts parts = split(name);
    if (const auto [group, key] = group_at(parts); group != nullptr) {
      const Parts key_parts = split(key);
      const bool is_parameter = key_parts.size() == 2 && key_parts[0] == "params";
      const auto index = index_of(key_parts.back());
      if (is_parameter && index) {
        group->parameters[*index] = fmt::format("{}", static_cast<std::int64_t>(value));
      } else {
        group->numbers[key] = value;
      }
    } else if (const auto [entry, field] = entry_at(parts); entry != nullptr) {
      entry->numbers[field] = value;
    } else {
      add_within(parts);
    }
  }

  void add_text(const std::string& name, const std::string& text) {
    const Parts parts = split(name);
    const auto [group, key] = group_at(parts);
    if (group == nullptr) {
      const auto [entry, field] = entry_at(parts);
      if (entry == nullptr) return add_within(parts);
      return add_odd(*entry, field, "it is a text");
    }
    const Parts key_parts = split(key);
    const auto index = index_of(key_parts.back());
    if (key_parts.size() != 2 || !index) return;
    if (key_parts[0] == "params") group->parameters[*index] = text;
    if (key_parts[0] == "param_names") group->names[*index] = text;
  }

  void add_tensor(const io::TensorInfo& tensor) {
    const Parts parts = split(tensor.name);
    const bool is_number = tensor.num_elements() == 1;
    if (is_number && last_of(parts, "param_groups")) {
      return add_number(tensor.name, file_.read(tensor.name).front());
    }
    if (const auto [entry, field] = entry_at(parts); entry != nullptr) {
      if (field == "step" || field == "mu_product") {
        // With another shape it is not a number, and is refused where it is used.
        entry->numbers[field] = is_number ? file_.read(tensor.name).front() : kNaN;
      } else {
        entry->tensors[field] = tensor.name;
      }
      return;
    }
    add_own(tensor, parts);
  }

  // optimizer.FIELD.NAME and optimizer.step.
  void add_own(const io::TensorInfo& tensor, const Parts& parts) {
    const auto at = static_cast<std::size_t>(std::ranges::find(parts, "optimizer") - parts.begin());
    if (at + 2 > parts.size()) return;
    Draft* draft = nullptr;
    const std::string prefix = prefix_of(std::span(parts).first(at + 1));
    if (at + 2 == parts.size() && parts.back() == "step") {
      draft = &drafts_[prefix];
      draft->common_step = tensor.num_elements() == 1 ? file_.read(tensor.name).front() : kNaN;
    } else if (at + 2 < parts.size() && detail::is_moment_field(parts[at + 1])) {
      draft = &drafts_[prefix];
      draft->entries[joined(std::span(parts).subspan(at + 2))].tensors[std::string(parts[at + 1])] =
          tensor.name;
    }
  }

  static StoredOptimizer::Group finished(Draft::Group draft) {
    StoredOptimizer::Group group{.numbers = std::move(draft.numbers)};
    for (auto& [index, name] : draft.parameters) group.parameters.push_back(std::move(name));
    for (auto& [index, name] : draft.names) group.names.push_back(std::move(name));
    return group;
  }

  static StoredOptimizer finished(const std::string& prefix, Draft draft) {
    StoredOptimizer optimizer{.prefix = prefix};
    for (auto& [number, group] : draft.groups) {
      optimizer.groups.push_back(finished(std::move(group)));
    }
    for (auto& [name, group] : draft.groups_by_name) {
      // A setting of a numbered group that is itself a table.
      if (!draft.groups.empty() && is_digit(name.front())) continue;
      group.parameters[0] = name;
      optimizer.groups.push_back(finished(std::move(group)));
    }
    optimizer.entries = std::move(draft.entries);
    // The only group comprises everything that is kept, if it does not list its parameters.
    if (optimizer.groups.size() == 1 && optimizer.groups.front().parameters.empty()) {
      for (const auto& [name, entry] : optimizer.entries) {
        if (!index_of(name)) optimizer.groups.front().parameters.push_back(name);
      }
    }
    if (draft.common_step) {
      optimizer.has_entries_of_all = true;
      for (auto& [name, entry] : optimizer.entries) entry.numbers["step"] = *draft.common_step;
    }
    const auto is_number = [](const std::string& key) { return index_of(key).has_value(); };
    for (const auto& group : optimizer.groups) {
      optimizer.is_by_name =
          optimizer.is_by_name || !std::ranges::all_of(group.parameters, is_number);
    }
    for (const auto& [key, entry] : optimizer.entries) {
      optimizer.is_by_name = optimizer.is_by_name || !is_number(key);
    }
    detail::recognise_kind(optimizer);
    return optimizer;
  }

  const io::TensorFile& file_;
  std::map<std::string, Draft> drafts_;  // by prefix
};

}  // namespace

std::size_t StoredOptimizer::num_parameters() const {
  std::size_t count = 0;
  for (const Group& group : groups) count += group.parameters.size();
  return groups.empty() ? entries.size() : count;
}

std::vector<StoredOptimizer> find_stored_optimizers(const io::TensorFile& file) {
  return Finder(file).find();
}

std::vector<std::string> unexplained_tensors(const io::TensorFile& file,
                                             const std::vector<StoredOptimizer>& known) {
  std::unordered_set<std::string_view> explained;
  for (const StoredOptimizer& optimizer : known) {
    for (const auto& [parameter, entry] : optimizer.entries) {
      for (const auto& [field, tensor] : entry.tensors) explained.insert(tensor);
    }
  }
  std::vector<std::string> left;
  for (const io::TensorInfo& tensor : file.tensors()) {
    if (explained.contains(tensor.name)) continue;
    std::string name = tensor.name;
    std::ranges::replace(name, '/', '.');
    const Parts parts = split(name);
    const bool is_single = parts.back() == "step" || parts.back() == "mu_product" ||
                           std::ranges::find(parts, "param_groups") != parts.end();
    const auto first = std::span(parts).first(parts.size() - 1);
    const bool looks_like_one =
        std::ranges::any_of(first, is_word_for_optimizer) ||
        (parts.size() > 1 && detail::is_moment_field(parts.back()) && parts.back() != "sum");
    if (looks_like_one && !is_single) left.push_back(tensor.name);
  }
  return left;
}

}  // namespace hesscope
