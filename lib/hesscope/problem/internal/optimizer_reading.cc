// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/name_list.h>
#include <hesscope/core/shape.h>
#include <hesscope/core/suggest.h>
#include <hesscope/problem/internal/optimizer_kinds.h>
#include <hesscope/problem/internal/optimizer_parameters.h>
#include <hesscope/problem/internal/optimizer_reading.h>
#include <hesscope/problem/stored_optimizer.h>

namespace hesscope::detail {
namespace {

// The field with the OptimizerState::second_moments of this kind.
const char* moments_field(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kAdam:
    case OptimizerKind::kNAdam:
    case OptimizerKind::kRAdam:
      return "exp_avg_sq";
    case OptimizerKind::kAmsgrad:
      return "max_exp_avg_sq";
    case OptimizerKind::kAdamax:
      return "exp_inf";
    case OptimizerKind::kRmsprop:
      return "square_avg";
    case OptimizerKind::kAdagrad:
      return "sum";
    case OptimizerKind::kNone:
    case OptimizerKind::kUnknown:
    case OptimizerKind::kSgd:
      return "";
  }
  return "";
}

class Reading {
 public:
  Reading(const Model& model,
          const io::TensorFile& checkpoint,
          const io::TensorFile& file,
          const StoredOptimizer& stored)
      : model_(model), checkpoint_(checkpoint), file_(file), stored_(stored) {}

  OptimizerState read() {
    state_.kind = stored_.kind;
    state_.file = file_.path().string();
    state_.prefix = stored_.prefix;
    for (const StoredOptimizer::Group& group : stored_.groups) {
      state_.groups.push_back(group.settings);
    }
    if (state_.groups.empty()) state_.groups.emplace_back();
    warn_of_unknown_keys();
    warn_of_unusable_numbers();
    warn_of_look_alikes();
    try {
      take_state();
    } catch (const FewerParameters& refusal) {
      refuse(refusal);
      state_.num_not_given = refusal.num_missing;
    } catch (const UnusableState& refusal) {
      refuse(refusal);
    }
    return std::move(state_);
  }

 private:
  static std::string name_of(OptimizerKind kind) {
    return kind == OptimizerKind::kUnknown ? std::string("an optimiser")
                                           : std::string(to_string(kind));
  }

  std::string place() const {
    return fmt::format("the state of {} under '{}'", name_of(stored_.kind), stored_.prefix);
  }

  void refuse(const UnusableState& refusal) {
    state_.blocks.clear();
    state_.num_not_given = 0;
    state_.second_moments.resize(0);
    state_.first_moments.resize(0);
    state_.obstacle = fmt::format("{} cannot be used: {}", place(), refusal.reason);
  }

  // @throws UnusableState.
  void take_state() {
    require_readable_moments();
    if (!stored_.obstacle.empty()) throw UnusableState{stored_.obstacle};
    if (keeps_moments()) {
      assign();
      read_entries();
    } else if (are_alike() && !stored_.is_by_name) {
      require_as_many_parameters(model_, file_, stored_);
      state_.blocks.assign(model_.parameters.size(), {.group = 0});
    } else {
      assign_groups();
    }
  }

  void require_readable_moments() const {
    for (const auto& [key, entry] : stored_.entries) {
      for (const auto& [field, reason] : entry.odd) {
        if (is_moment_field(field)) {
          throw UnusableState{fmt::format("'{}' of '{}' cannot be read: {}", field, key, reason)};
        }
      }
    }
  }

  // Apart from weight decay, which does not affect what an update is divided by.
  bool are_alike() const {
    const auto without_decay = [](OptimizerSettings settings) {
      settings.weight_decay.reset();
      settings.is_decoupled.reset();
      return settings;
    };
    const OptimizerSettings first = without_decay(state_.groups.front());
    return std::ranges::all_of(state_.groups,
                               [&](const auto& group) { return without_decay(group) == first; });
  }

  // If nothing else is kept for a parameter, its group may remain unknown: without moments, only
  // the learning rates of SGD scale an update; groups that differ in momentum have no threshold,
  // whatever they contain. @throws UnusableState.
  void assign_groups() {
    try {
      assign();
    } catch (const UnknownGroups&) {
      if (stored_.kind != OptimizerKind::kSgd) return;
      const auto rate = state_.groups.front().learning_rate;
      const bool have_one_rate = std::ranges::all_of(
          state_.groups, [&](const auto& group) { return group.learning_rate == rate; });
      if (!have_one_rate) throw;
      for (std::size_t g = 0; g < stored_.groups.size(); ++g) {
        state_.blocks.insert(
            state_.blocks.end(), stored_.groups[g].parameters.size(), {.group = g});
      }
    }
  }

  void warn(const std::string& sentence) {
    state_.warnings.push_back(fmt::format("{}: {}", place(), sentence));
  }

  void warn_of_unusable_numbers() {
    for (const auto& group : stored_.groups) {
      for (const auto& [key, value] : group.numbers) {
        if (!is_usable_setting(key, value)) {
          return warn(fmt::format("its '{}' is {}, which cannot be, and is not used", key, value));
        }
      }
    }
  }

  // RAdam of PyTorch before 2.0 lacks this setting.
  void warn_of_look_alikes() {
    if (stored_.kind != OptimizerKind::kRAdam || stored_.groups.empty()) return;
    constexpr std::size_t kNumCommon = 5;  // lr, betas.0, betas.1, eps, weight_decay
    const bool is_bare = std::ranges::all_of(
        stored_.groups, [](const auto& group) { return group.numbers.size() <= kNumCommon; });
    if (is_bare) {
      warn(
          "its settings and what it keeps are those of RAdam, but also those of others (Yogi, "
          "LAMB, early forms of Adam); it is taken as RAdam");
    }
  }

  void warn_of_unknown_keys() {
    if (stored_.unknown_keys.empty()) return;
    warn(
        fmt::format("its settings have '{}', which PyTorch's {} has not and which is not read; "
                    "if it is another optimiser, its numbers are others",
                    stored_.unknown_keys.front(),
                    name_of(stored_.kind)));
  }

  bool keeps_moments() const {
    const std::string field = moments_field(stored_.kind);
    return std::ranges::any_of(
        stored_.entries, [&](const auto& entry) { return entry.second.tensors.contains(field); });
  }

  void assign() {
    AssignedParameters assigned = assign_parameters(model_, checkpoint_, file_, stored_);
    if (!assigned.warning.empty()) warn(assigned.warning);
    for (const AssignedParameters::Block& block : assigned.blocks) {
      keys_.push_back(block.key);
      state_.blocks.push_back({.group = block.group});
      if (!block.group) ++state_.num_not_given;
    }
  }

  void read_entries() {
    const std::string field = moments_field(stored_.kind);
    state_.second_moments.setZero(model_.num_parameters());
    const bool is_centered = std::ranges::any_of(state_.groups, &OptimizerSettings::is_centered);
    if (is_centered) state_.first_moments.setZero(model_.num_parameters());
    for (const CheckpointParameter& each : checkpoint_parameters(model_, checkpoint_)) {
      OptimizerState::Block& block = state_.blocks[each.index];
      const std::string* const key = keys_[each.index];
      if (key == nullptr) {
        const bool is_not_given = stored_.has_entries_of_all || !stored_.groups.empty();
        if (!is_not_given) throw missing(each, field);
        continue;
      }
      const auto entry = stored_.entries.find(*key);
      const auto segment = [&](Eigen::VectorXd& all) {
        return all.segment(each.block->offset, each.block->size);
      };
      if (entry == stored_.entries.end() || !entry->second.tensors.contains(field)) {
        throw missing(each, field);
      }
      segment(state_.second_moments) = moments(each, entry->second.tensors.at(field), true);
      if (state_.groups[*block.group].is_centered) {
        const auto mean = entry->second.tensors.find("grad_avg");
        if (mean == entry->second.tensors.end()) throw missing(each, "grad_avg");
        segment(state_.first_moments) = moments(each, mean->second, false);
      }
      block.step = step_of(*key, entry->second);
      const auto product = entry->second.numbers.find("mu_product");
      if (product != entry->second.numbers.end()) block.momentum_product = product->second;
    }
    require_steps_of_all();
    forget_what_was_never_updated();
  }

  // Without a step, the bias of the stored moments cannot be corrected.
  void require_steps_of_all() const {
    const auto has_step = [](const auto& block) { return block.step.has_value(); };
    if (stored_.kind == OptimizerKind::kRmsprop || !std::ranges::any_of(state_.blocks, has_step)) {
      return;
    }
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i] == nullptr || has_step(state_.blocks[i])) continue;
      throw UnusableState{
          fmt::format("the 'step' of '{}' is missing, and others have one", *keys_[i])};
    }
  }

  static UnusableState missing(const CheckpointParameter& of, const std::string& field) {
    return {fmt::format("'{}' of '{}' is missing", field, of.block->name)};
  }

  // Adagrad stores its sums even before the first step.
  void forget_what_was_never_updated() {
    const auto is_unused = [](const auto& block) { return block.step == 0; };
    if (state_.blocks.empty() || !std::ranges::any_of(state_.blocks, is_unused)) return;
    if (!std::ranges::all_of(state_.blocks, is_unused)) {
      throw UnusableState{"some of its parameters have made no step"};
    }
    state_.second_moments.resize(0);
    state_.first_moments.resize(0);
    for (OptimizerState::Block& block : state_.blocks) block.step.reset();
  }

  std::optional<std::int64_t> step_of(const std::string& key,
                                      const StoredOptimizer::Entry& entry) const {
    const auto found = entry.numbers.find("step");
    if (found == entry.numbers.end()) return std::nullopt;
    const double step = found->second;
    const double least = stored_.kind == OptimizerKind::kAdagrad ? 0 : 1;
    if (!(step >= least && step <= 1e15) || step != std::floor(step)) {
      throw UnusableState{
          fmt::format("the 'step' of '{}' must be one whole number, at least {}", key, least)};
    }
    return static_cast<std::int64_t>(step);
  }

  // Row-major, in the layout of the model's parameter.
  Eigen::VectorXd moments(const CheckpointParameter& of,
                          const std::string& name,
                          bool are_squares) const {
    const io::TensorInfo& tensor = *file_.find(name);
    const std::vector<std::int64_t> expected = of.shape_of_moments(tensor.is_transposed);
    if (tensor.shape != expected) {
      throw UnusableState{fmt::format("tensor '{}': expected shape {}, found {}",
                                      name,
                                      shape_text(expected),
                                      shape_text(tensor.shape))};
    }
    const std::vector<double> values = file_.read(name);
    Eigen::VectorXd found =
        Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
    if (!found.allFinite() || (are_squares && found.size() > 0 && !(found.minCoeff() >= 0))) {
      throw UnusableState{
          fmt::format("tensor '{}' holds averages of {}, but a value is {}not finite",
                      name,
                      are_squares ? "squares" : "gradients",
                      are_squares ? "negative or " : "")};
    }
    if (of.are_transposed(tensor.is_transposed)) {
      found = found.reshaped(of.block->shape[0], of.block->shape[1]).transpose().reshaped().eval();
    }
    return found;
  }

  const Model& model_;
  const io::TensorFile& checkpoint_;
  const io::TensorFile& file_;
  const StoredOptimizer& stored_;
  std::vector<const std::string*> keys_;  // of the entries, by block
  OptimizerState state_;
};

// For tensors that look like an optimiser's, but are not known.
std::string unknown_tensors_text(const std::vector<std::string>& names) {
  std::vector<std::string> fields(kMomentFields.begin(), kMomentFields.end());
  std::string hint;
  std::string_view rest = names.front();
  while (hint.empty() && !rest.empty()) {
    const std::size_t end = std::min(rest.find('.'), rest.size());
    const std::string part(rest.substr(0, end));
    if (!is_moment_field(part)) hint = did_you_mean(part, fields);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fmt::format("{} {} named as an optimiser's, but not understood{}",
                     first_quoted(names, 1),
                     names.size() > 1 ? "are" : "is",
                     hint);
}

}  // namespace

OptimizerState read_optimizer_state(const Model& model, const io::TensorFile& checkpoint) {
  // A map may give its tensors known names; a part excludes them.
  io::TensorFile file = checkpoint;
  std::vector<StoredOptimizer> stored = find_stored_optimizers(file);
  if (stored.empty()) {
    file = checkpoint.whole();
    stored = find_stored_optimizers(file);
  }
  const auto is_parameter = [&](const std::string& name) {
    return std::ranges::any_of(model.parameters, [&](const ParameterBlock& block) {
      return name == block.name || name == checkpoint.stored_name(block.name);
    });
  };
  std::vector<std::string> unknown = unexplained_tensors(file, stored);
  std::erase_if(unknown, is_parameter);
  if (stored.empty()) {
    if (unknown.empty()) return {};
    return {.kind = OptimizerKind::kUnknown,
            .file = file.path().string(),
            .obstacle = unknown_tensors_text(unknown)};
  }
  std::vector<OptimizerState> states;
  for (const StoredOptimizer& each : stored) {
    states.push_back(Reading(model, checkpoint, file, each).read());
  }
  if (states.size() > 1) {
    const auto is_refused = [](const OptimizerState& state) { return !state.obstacle.empty(); };
    std::vector<OptimizerState> fitting = states;
    std::erase_if(fitting, is_refused);
    if (fitting.size() != 1) {
      return {.kind = OptimizerKind::kUnknown,
              .file = file.path().string(),
              .obstacle = fmt::format("it has states of optimisers under '{}' and '{}'; which one "
                                      "belongs to these parameters is not known",
                                      stored[0].prefix,
                                      stored[1].prefix)};
    }
    states = std::move(fitting);
  }
  OptimizerState state = std::move(states.front());
  if (!unknown.empty()) {
    if (state.has_second_moments()) {
      state.warnings.push_back(unknown_tensors_text(unknown));
    } else if (state.obstacle.empty()) {
      state.obstacle = unknown_tensors_text(unknown);
    }
  }
  return state;
}

}  // namespace hesscope::detail
