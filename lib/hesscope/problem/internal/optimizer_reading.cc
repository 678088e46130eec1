// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/suggest.h>
#include <hesscope/problem/internal/optimizer_kinds.h>
#include <hesscope/problem/internal/optimizer_reading.h>
#include <hesscope/problem/internal/parameter_names.h>
#include <hesscope/problem/internal/parameter_order.h>
#include <hesscope/problem/stored_optimizer.h>

namespace hesscope::detail {
namespace {

// The field with what OptimizerState::second_moments is of this kind.
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

// A parameter as the model has it, and as the checkpoint does.
struct Parameter {
  const ParameterBlock* block;
  const io::TensorInfo* tensor;

  // Of what the optimiser keeps, whether or not the map transposes the parameter.
  bool are_transposed(bool moments_are) const { return moments_are != tensor->is_transposed; }

  std::vector<std::int64_t> shape_of_moments(bool moments_are) const {
    std::vector<std::int64_t> shape = block->shape;
    if (are_transposed(moments_are)) std::ranges::reverse(shape);
    return shape;
  }
};

// Why a state cannot be used; never leaves this file.
struct Refusal {
  std::string reason;
};

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
    } catch (const Refusal& refusal) {
      state_.blocks.clear();
      state_.second_moments.resize(0);
      state_.first_moments.resize(0);
      state_.obstacle = fmt::format("{} cannot be used: {}", place(), refusal.reason);
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

  // @throws Refusal.
  void take_state() {
    if (!stored_.obstacle.empty()) throw Refusal{stored_.obstacle};
    const bool are_alike = std::ranges::all_of(
        state_.groups, [this](const auto& group) { return group == state_.groups.front(); });
    if (keeps_moments()) {
      assign();
      read_entries();
    } else if (are_alike && !stored_.is_by_name) {
      require_as_many_parameters();
      state_.blocks.assign(model_.parameters.size(), {.group = 0});
    } else {
      assign();
    }
  }

  // All that can be compared where no order is needed: how many there are, and the sizes of what is
  // kept for them.
  void require_as_many_parameters() const {
    const std::size_t num_parameters = stored_.groups.empty() ? 0 : stored_.num_parameters();
    if (num_parameters > 0 && num_parameters != model_.parameters.size()) {
      throw Refusal{text_of_other_number(num_parameters, model_.parameters.size())};
    }
    std::multiset<std::int64_t> sizes;
    for (const ParameterBlock& block : model_.parameters) sizes.insert(block.size);
    for (const auto& [parameter, entry] : stored_.entries) {
      if (entry.tensors.empty()) continue;
      const io::TensorInfo& kept = *file_.find(entry.tensors.begin()->second);
      const auto found = sizes.find(kept.num_elements());
      if (found == sizes.end()) {
        throw Refusal{fmt::format("tensor '{}' has shape {}, which fits no parameter of the model",
                                  kept.name,
                                  shape_text(kept.shape))};
      }
      sizes.erase(found);
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

  // RAdam of PyTorch before 2.0 has no such setting.
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

  // In the checkpoint's order.
  std::vector<Parameter> parameters() const {
    std::vector<Parameter> all;
    for (const io::TensorInfo& tensor : checkpoint_.tensors()) {
      const auto found = std::ranges::find(model_.parameters, tensor.name, &ParameterBlock::name);
      if (found != model_.parameters.end()) all.push_back({&*found, &tensor});
    }
    return all;
  }

  std::size_t index_of(const ParameterBlock& block) const {
    return static_cast<std::size_t>(&block - model_.parameters.data());
  }

  // What is stored, by the model's blocks: keys_ and state_.blocks.
  void assign() {
    keys_.assign(model_.parameters.size(), nullptr);
    state_.blocks.assign(model_.parameters.size(), {});
    if (stored_.is_by_name) return assign_by_name(names_and_keys());
    if (stored_.groups.empty()) throw Refusal{"nothing says which number is which parameter"};
    std::vector<std::pair<std::string, Place>> named;
    bool all_have_names = true;
    for (std::size_t g = 0; g < stored_.groups.size(); ++g) {
      const StoredOptimizer::Group& group = stored_.groups[g];
      all_have_names = all_have_names && group.names.size() == group.parameters.size();
      for (std::size_t k = 0; all_have_names && k < group.names.size(); ++k) {
        named.emplace_back(group.names[k], Place{g, &group.parameters[k]});
      }
    }
    if (all_have_names) return assign_by_name(named);
    assign_by_order();
  }

  // A parameter of the optimiser.
  struct Place {
    std::size_t group;
    const std::string* key;  // of entries
  };

  std::vector<std::pair<std::string, Place>> names_and_keys() const {
    std::vector<std::pair<std::string, Place>> named;
    for (std::size_t g = 0; g < stored_.groups.size(); ++g) {
      for (const std::string& name : stored_.groups[g].parameters)
        named.emplace_back(name, Place{g, &name});
    }
    if (!stored_.groups.empty()) return named;
    for (const auto& [name, entry] : stored_.entries) named.emplace_back(name, Place{0, &name});
    return named;
  }

  void assign_by_name(const std::vector<std::pair<std::string, Place>>& named) {
    std::vector<NamedParameter> ours;
    for (const Parameter& each : parameters()) {
      ours.push_back(
          {each.block->name, checkpoint_.stored_name(each.tensor->name), index_of(*each.block)});
    }
    std::vector<std::string> theirs;
    for (const auto& [name, place] : named) theirs.push_back(name);
    const std::vector<std::optional<std::size_t>> blocks = blocks_by_name(theirs, ours);
    std::size_t num_unknown = 0;
    std::string unknown;
    for (std::size_t k = 0; k < named.size(); ++k) {
      if (!blocks[k]) {
        if (num_unknown++ == 0) unknown = named[k].first;
        continue;
      }
      const Place& place = named[k].second;
      if (keys_[*blocks[k]] != nullptr) {
        throw Refusal{fmt::format("'{}' and '{}' would both be '{}'",
                                  *keys_[*blocks[k]],
                                  *place.key,
                                  model_.parameters[*blocks[k]].name)};
      }
      keys_[*blocks[k]] = place.key;
      state_.blocks[*blocks[k]].group = place.group;
    }
    if (num_unknown == named.size()) {
      throw Refusal{
          fmt::format("its parameters are named otherwise than the model's, as '{}'", unknown)};
    }
    if (num_unknown > 0) {
      const auto left_out = std::ranges::find(keys_, nullptr);
      if (left_out != keys_.end()) {
        throw Refusal{fmt::format(
            "'{}' of it matches no parameter, and the model's '{}' matches none of it",
            unknown,
            model_.parameters[static_cast<std::size_t>(left_out - keys_.begin())].name)};
      }
      warn(fmt::format(
          "'{}' and {} more of its parameters are none of the model's", unknown, num_unknown - 1));
    }
  }

  void assign_by_order() {
    std::vector<ListedParameter> listed;
    for (const Parameter& each : parameters()) {
      listed.push_back({checkpoint_.stored_name(each.tensor->name),
                        index_of(*each.block),
                        each.shape_of_moments(false)});
    }
    std::vector<NumberedParameter> numbered;
    std::vector<Place> places;
    for (std::size_t g = 0; g < stored_.groups.size(); ++g) {
      for (const std::string& number : stored_.groups[g].parameters) {
        numbered.push_back({g, shape_kept_for(number)});
        places.push_back({g, &number});
      }
    }
    ParameterOrder order = order_parameters(listed, numbered);
    if (!order.obstacle.empty()) throw Refusal{order.obstacle};
    if (!order.warning.empty()) warn(order.warning);
    for (std::size_t k = 0; k < places.size(); ++k) {
      keys_[order.blocks[k]] = places[k].key;
      state_.blocks[order.blocks[k]].group = places[k].group;
    }
  }

  std::optional<std::vector<std::int64_t>> shape_kept_for(const std::string& number) const {
    const auto entry = stored_.entries.find(number);
    if (entry == stored_.entries.end() || entry->second.tensors.empty()) return std::nullopt;
    return file_.find(entry->second.tensors.begin()->second)->shape;
  }

  void read_entries() {
    const std::string field = moments_field(stored_.kind);
    state_.second_moments.setZero(model_.num_parameters());
    const bool is_centered = std::ranges::any_of(state_.groups, &OptimizerSettings::is_centered);
    if (is_centered) state_.first_moments.setZero(model_.num_parameters());
    for (const Parameter& each : parameters()) {
      const std::size_t b = index_of(*each.block);
      OptimizerState::Block& block = state_.blocks[b];
      if (keys_[b] == nullptr) {
        if (stored_.groups.empty()) throw missing(each, field);
        continue;  // not given to the optimiser
      }
      const auto entry = stored_.entries.find(*keys_[b]);
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
      block.step = step_of(*keys_[b], entry->second);
      const auto product = entry->second.numbers.find("mu_product");
      if (product != entry->second.numbers.end()) block.momentum_product = product->second;
    }
    forget_what_was_never_updated();
  }

  static Refusal missing(const Parameter& of, const std::string& field) {
    return {fmt::format("'{}' of '{}' is missing", field, of.block->name)};
  }

  // Adagrad keeps its sums from before the first step.
  void forget_what_was_never_updated() {
    const auto is_unused = [](const auto& block) { return block.step == 0; };
    if (state_.blocks.empty() || !std::ranges::any_of(state_.blocks, is_unused)) return;
    if (!std::ranges::all_of(state_.blocks, is_unused)) {
      throw Refusal{"some of its parameters have made no step"};
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
      throw Refusal{
          fmt::format("the 'step' of '{}' must be one whole number, at least {}", key, least)};
    }
    return static_cast<std::int64_t>(step);
  }

  // Row-major, as the model has the parameter.
  Eigen::VectorXd moments(const Parameter& of, const std::string& name, bool are_squares) const {
    const io::TensorInfo& tensor = *file_.find(name);
    const std::vector<std::int64_t> expected = of.shape_of_moments(tensor.is_transposed);
    if (tensor.shape != expected) {
      throw Refusal{fmt::format("tensor '{}': expected shape {}, found {}",
                                name,
                                shape_text(expected),
                                shape_text(tensor.shape))};
    }
    const std::vector<double> values = file_.read(name);
    Eigen::VectorXd found =
        Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
    if (!found.allFinite() || (are_squares && found.size() > 0 && !(found.minCoeff() >= 0))) {
      throw Refusal{fmt::format("tensor '{}' holds averages of {}, but a value is {}not finite",
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

// What looks like an optimiser's, but is not known.
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
  return fmt::format("'{}'{}{} named as an optimiser's, but not understood{}",
                     names.front(),
                     names.size() > 1 ? fmt::format(" and {} more", names.size() - 1) : "",
                     names.size() > 1 ? " are" : " is",
                     hint);
}

}  // namespace

OptimizerState read_optimizer_state(const Model& model, const io::TensorFile& checkpoint) {
  // A map may give its tensors the names that are known; a part leaves them outside.
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
