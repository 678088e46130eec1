// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/tensors/tensor_map.h>
#include <hesscope/tensors/wrapped_names.h>

namespace hesscope::io {
namespace {

bool is_pattern(std::string_view text) { return text.find('*') != std::string_view::npos; }

/// The text for which the '*' of a pattern stands in a name; empty if both are equal.
std::optional<std::string_view> match(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) {
    return pattern == name ? std::optional(std::string_view()) : std::nullopt;
  }
  const std::string_view before = pattern.substr(0, star);
  const std::string_view after = pattern.substr(star + 1);
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) ||
      !name.ends_with(after)) {
    return std::nullopt;
  }
  return name.substr(before.size(), name.size() - before.size() - after.size());
}

std::string filled(std::string_view pattern, std::string_view captured) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return std::string(pattern);
  return fmt::format("{}{}{}", pattern.substr(0, star), captured, pattern.substr(star + 1));
}

/// The place, to precede a message, if it is known.
std::string prefix_of(const std::string& place) { return place.empty() ? "" : place + ": "; }

/// A rule's place, if it is known.
std::string text_of(const TensorRule& rule, std::string_view otherwise) {
  return rule.place.empty() ? std::string(otherwise) : rule.place;
}

/// The part of the file to which the map's names refer.
TensorFile part_of(const TensorFile& file, const TensorMap& map) {
  const TensorFile part = file.part(map.key);
  const std::string wrapper = wrapper_of(part);
  const auto names_it = [&](const std::string& name) { return name.starts_with(wrapper); };
  const bool is_of_wrapped = std::ranges::any_of(map.rules, names_it, &TensorRule::source) ||
                             std::ranges::any_of(map.ignored, names_it);
  return wrapper.empty() || is_of_wrapped ? part : unwrapped(part);
}

/// A tensor of the file, and how it is presented.
struct View {
  std::size_t index = 0;  ///< in the file
  bool transpose = false;
};

class MappedSource final : public TensorSource {
 public:
  MappedSource(const TensorFile& file, const TensorMap& map) : file_(part_of(file, map)) {
    for (const TensorRule& rule : map.rules) require_match(rule);
    std::map<std::string, const TensorRule*> seen;  // by our names; null for kept names
    for (std::size_t i = 0; i < file_.tensors().size(); ++i) {
      const TensorInfo& tensor = file_.tensors()[i];
      const TensorRule* const rule = rule_for(tensor, map);
      if (rule == nullptr && is_ignored(tensor.name, map)) {
        left_out_.push_back(tensor.name);
        continue;
      }
      TensorInfo info = tensor;
      View view{.index = i};
      if (rule != nullptr) {
        info.name = filled(rule->name, *match(rule->source, tensor.name));
        view.transpose = rule->transpose;
        if (rule->transpose) transpose(info, tensor, *rule);
      }
      if (const auto [before, is_new] = seen.emplace(info.name, rule); !is_new) {
        const TensorRule* const either = rule != nullptr ? rule : before->second;
        throw ConfigError(
            fmt::format("{}two tensors of {} would be named '{}'{}",
                        prefix_of(either == nullptr ? map.place : either->place),
                        file_.where(),
                        info.name,
                        rule != nullptr && before->second != nullptr
                            ? fmt::format(" (see {})", text_of(*before->second, "the rules"))
                            : "; name the other one too, or ignore it"));
      }
      tensors_.push_back(std::move(info));
      views_.push_back(view);
    }
    for (const UnreadableTensor& tensor : file_.unreadable()) {
      if (!is_ignored(tensor.name, map)) unreadable_.push_back(tensor);
    }
  }

  std::span<const TensorInfo> tensors() const override { return tensors_; }

  std::vector<double> read(std::size_t index) const override {
    const View& view = views_.at(index);
    std::vector<double> values = file_.read(file_.tensors()[view.index].name);
    if (!view.transpose) return values;
    const auto rows = static_cast<std::size_t>(tensors_[index].shape[0]);
    const auto columns = static_cast<std::size_t>(tensors_[index].shape[1]);
    std::vector<double> transposed(values.size());
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) transposed[i * columns + j] = values[j * rows + i];
    }
    return transposed;
  }

  std::span<const UnreadableTensor> unreadable() const override { return unreadable_; }

  std::optional<double> number(std::string_view name) const override { return file_.number(name); }

  std::vector<FileValue> values() const override { return file_.values(); }

  std::span<const std::string> left_out() const override { return left_out_; }

  std::string stored_name(std::size_t index) const override {
    return file_.stored_name(file_.tensors()[views_.at(index).index].name);
  }

  std::span<const std::shared_ptr<const InputFile>> files() const override { return file_.files(); }

 private:
  void require_match(const TensorRule& rule) const {
    std::vector<std::string> names;
    for (const TensorInfo& tensor : file_.tensors()) {
      if (match(rule.source, tensor.name)) return;
      names.push_back(tensor.name);
    }
    for (const UnreadableTensor& tensor : file_.unreadable()) {
      if (match(rule.source, tensor.name)) file_.read(tensor.name);  // throws the reason
    }
    throw InputError(
        fmt::format("{}: {} '{}', which {} reads as '{}'{}",
                    file_.where(),
                    is_pattern(rule.source) ? "no tensor is named like" : "there is no tensor",
                    rule.source,
                    text_of(rule, "a rule"),
                    rule.name,
                    did_you_mean(rule.source, names)));
  }

  const TensorRule* rule_for(const TensorInfo& tensor, const TensorMap& map) const {
    const TensorRule* found = nullptr;
    for (const TensorRule& rule : map.rules) {
      if (!match(rule.source, tensor.name)) continue;
      if (found != nullptr) {
        throw ConfigError(fmt::format("{}tensor '{}' of {} is named by {} too",
                                      prefix_of(rule.place),
                                      tensor.name,
                                      file_.where(),
                                      text_of(*found, "another rule")));
      }
      found = &rule;
    }
    return found;
  }

  static bool is_ignored(const std::string& name, const TensorMap& map) {
    return std::ranges::any_of(
        map.ignored, [&](const std::string& pattern) { return match(pattern, name).has_value(); });
  }

  void transpose(TensorInfo& info, const TensorInfo& tensor, const TensorRule& rule) const {
    if (tensor.shape.size() != 2) {
      throw InputError(
          fmt::format("{}: tensor '{}' has shape {}; {} transposes it, which takes 2 dimensions",
                      file_.where(),
                      tensor.name,
                      shape_text(tensor.shape),
                      text_of(rule, "a rule")));
    }
    std::swap(info.shape[0], info.shape[1]);
    info.is_transposed = !info.is_transposed;
  }

  TensorFile file_;
  std::vector<TensorInfo> tensors_;
  std::vector<View> views_;  ///< one per tensor
  std::vector<UnreadableTensor> unreadable_;
  std::vector<std::string> left_out_;
};

}  // namespace

TensorFile mapped(const TensorFile& file, const TensorMap& map) {
  return {file.path(),
          file.format(),
          std::make_shared<MappedSource>(file, map),
          std::make_shared<const TensorFile>(file.whole())};
}

TensorMap applicable(const TensorMap& map, const TensorFile& part) {
  TensorMap found{.place = map.place};
  const TensorFile named = part_of(part, {.rules = map.rules});
  std::ranges::copy_if(map.rules, std::back_inserter(found.rules), [&](const TensorRule& rule) {
    return std::ranges::any_of(named.tensors(), [&](const TensorInfo& tensor) {
      return match(rule.source, tensor.name).has_value();
    });
  });
  return found;
}

}  // namespace hesscope::io
