// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/shape.h>
#include <hesscope/problem/internal/layer_order.h>
#include <hesscope/problem/internal/optimizer_parameters.h>
#include <hesscope/problem/internal/parameter_names.h>
#include <hesscope/problem/internal/parameter_order.h>

namespace hesscope::detail {
namespace {

// A parameter of the optimiser.
struct Place {
  std::size_t group;
  const std::string* key;  // of entries
};

using NamedPlaces = std::vector<std::pair<std::string, Place>>;

void require_same_number(std::size_t theirs, std::size_t ours) {
  if (theirs < ours) throw FewerParameters{{text_of_other_number(theirs, ours)}, ours - theirs};
  if (theirs > ours) throw UnusableState{text_of_other_number(theirs, ours)};
}

// Whether the optimiser numbers parameters of frozen layers, too, as model.parameters() lists them.
// It keeps nothing for those, since they have no gradients, and something for as many others as the
// model has.
bool numbers_frozen_ones(const StoredOptimizer& stored, std::size_t num_ours) {
  const auto num_kept = static_cast<std::size_t>(std::ranges::count_if(
      stored.entries, [](const auto& entry) { return !entry.second.tensors.empty(); }));
  return num_kept == num_ours && !stored.groups.empty() && stored.num_parameters() > num_ours;
}

// Whether the checkpoint's tensor is the parameter, under this name or one tied to it.
bool is_name_of(const io::TensorInfo& tensor, const CheckpointParameter& own, const Model& model) {
  return &tensor == own.tensor || (tensor.tie && tensor.tie == own.tensor->tie) ||
         std::ranges::any_of(model.ties, [&](const ModelTie& tie) {
           return tie.name == tensor.name && tie.to == own.block->name;
         });
}

// As ListedParameter::block: none of the model's.
constexpr std::size_t kFrozen = std::numeric_limits<std::size_t>::max();

bool is_frozen(const Model& model, const std::string& name) {
  const auto found = std::ranges::find(model.buffers, name, &ModelBuffer::name);
  return found != model.buffers.end() && found->is_frozen;
}

class ParameterAssignment {
 public:
  ParameterAssignment(const Model& model,
                      const io::TensorFile& checkpoint,
                      const io::TensorFile& file,
                      const StoredOptimizer& stored)
      : model_(model), checkpoint_(checkpoint), file_(file), stored_(stored) {
    assigned_.blocks.resize(model_.parameters.size());
  }

  AssignedParameters assign() && {
    if (stored_.is_by_name) {
      assign_by_name(keys_as_names());
    } else if (stored_.groups.empty()) {
      throw UnusableState{"nothing says which number is which parameter"};
    } else if (have_all_names()) {
      assign_by_name(names_beside_keys());
    } else {
      assign_by_order();
    }
    return std::move(assigned_);
  }

 private:
  bool have_all_names() const {
    return std::ranges::all_of(stored_.groups, [](const StoredOptimizer::Group& group) {
      return group.names.size() == group.parameters.size();
    });
  }

  NamedPlaces names_beside_keys() const {
    NamedPlaces named;
    for (std::size_t g = 0; g < stored_.groups.size(); ++g) {
      const StoredOptimizer::Group& group = stored_.groups[g];
      for (std::size_t k = 0; k < group.names.size(); ++k) {
        named.emplace_back(group.names[k], Place{g, &group.parameters[k]});
      }
    }
    return named;
  }

  NamedPlaces keys_as_names() const {
    NamedPlaces named;
    for (std::size_t g = 0; g < stored_.groups.size(); ++g) {
      for (const std::string& name : stored_.groups[g].parameters)
        named.emplace_back(name, Place{g, &name});
    }
    if (!stored_.groups.empty()) return named;
    for (const auto& [name, entry] : stored_.entries) named.emplace_back(name, Place{0, &name});
    return named;
  }

  void assign_by_name(const NamedPlaces& named) {
    if (named.empty()) throw UnusableState{"its groups list no parameters"};
    std::vector<NamedParameter> ours;
    for (const CheckpointParameter& each : checkpoint_parameters(model_, checkpoint_)) {
      for (const io::TensorInfo& tensor : checkpoint_.tensors()) {
        if (!is_name_of(tensor, each, model_)) continue;
        ours.push_back({tensor.name, checkpoint_.stored_name(tensor.name), each.index});
      }
    }
    for (const io::TensorInfo& tensor : checkpoint_.tensors()) {
      if (!is_frozen(model_, tensor.name)) continue;
      ours.push_back({tensor.name, checkpoint_.stored_name(tensor.name), kFrozen});
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
      if (blocks[k] == kFrozen) continue;
      const Place& place = named[k].second;
      AssignedParameters::Block& block = assigned_.blocks[*blocks[k]];
      if (block.key != nullptr) {
        throw UnusableState{fmt::format("'{}' and '{}' would both be '{}'",
                                        *block.key,
                                        *place.key,
                                        model_.parameters[*blocks[k]].name)};
      }
      block = {place.key, place.group};
    }
    if (num_unknown > 0) require_explained(unknown, num_unknown, num_unknown == named.size());
  }

  // Refuses parameters that do not belong to the model.
  void require_explained(const std::string& first, std::size_t count, bool are_all) {
    if (are_all) {
      throw UnusableState{
          fmt::format("its parameters are named otherwise than the model's, as '{}'", first)};
    }
    const auto left_out =
        std::ranges::find(assigned_.blocks, nullptr, &AssignedParameters::Block::key);
    if (left_out != assigned_.blocks.end()) {
      const auto index = static_cast<std::size_t>(left_out - assigned_.blocks.begin());
      throw UnusableState{
          fmt::format("'{}' of it matches no parameter, and the model's '{}' matches none of it",
                      first,
                      model_.parameters[index].name)};
    }
    assigned_.warning =
        count == 1
            ? fmt::format("its parameter '{}' is none of the model's", first)
            : fmt::format(
                  "'{}' and {} more of its parameters are none of the model's", first, count - 1);
  }

  void assign_by_order() {
    std::vector<ListedParameter> listed;
    for (const CheckpointParameter& each : checkpoint_parameters(model_, checkpoint_)) {
      listed.push_back(
          {checkpoint_.stored_name(each.tensor->name), each.index, each.shape_of_moments(false)});
    }
    const bool leaves_out_frozen = numbers_frozen_ones(stored_, listed.size());
    std::vector<NumberedParameter> numbered;
    std::vector<Place> places;
    for (std::size_t g = 0; g < stored_.groups.size(); ++g) {
      for (const std::string& number : stored_.groups[g].parameters) {
        auto shape = shape_kept_for(number);
        if (!shape && leaves_out_frozen) continue;
        numbered.push_back({g, std::move(shape)});
        places.push_back({g, &number});
      }
    }
    if (numbered.size() > listed.size())
      listed = with_frozen_ones(std::move(listed), numbered.size());
    require_same_number(numbered.size(), listed.size());
    ParameterOrder order = order_parameters(listed, numbered, keeps_order_of_layers(checkpoint_));
    if (order.is_open) throw UnknownGroups{{order.obstacle}};
    if (!order.obstacle.empty()) throw UnusableState{order.obstacle};
    assigned_.warning = std::move(order.warning);
    for (std::size_t k = 0; k < places.size(); ++k) {
      if (order.blocks[k] == kFrozen) continue;
      assigned_.blocks[order.blocks[k]] = {places[k].key, places[k].group};
    }
  }

  // The same and those that the problem file freezes, if these are `count` together and the
  // checkpoint is known to list them as the model does: names in alphabetical order may be sorted.
  std::vector<ListedParameter> with_frozen_ones(std::vector<ListedParameter> listed,
                                                std::size_t count) const {
    std::vector<ListedParameter> all;
    auto next = listed.begin();
    for (const io::TensorInfo& tensor : checkpoint_.tensors()) {
      const std::string name = checkpoint_.stored_name(tensor.name);
      if (next != listed.end() && next->name == name) {
        all.push_back(*next++);
      } else if (is_frozen(model_, tensor.name)) {
        all.push_back({name, kFrozen, tensor.shape});
        if (tensor.is_transposed) std::ranges::reverse(all.back().shape);
      }
    }
    const bool may_be_sorted = std::ranges::is_sorted(all, {}, &ListedParameter::name) &&
                               !keeps_order_of_layers(checkpoint_);
    return next == listed.end() && all.size() == count && !may_be_sorted ? all : listed;
  }

  std::optional<std::vector<std::int64_t>> shape_kept_for(const std::string& number) const {
    const auto entry = stored_.entries.find(number);
    if (entry == stored_.entries.end() || entry->second.tensors.empty()) return std::nullopt;
    return file_.find(entry->second.tensors.begin()->second)->shape;
  }

  const Model& model_;
  const io::TensorFile& checkpoint_;
  const io::TensorFile& file_;
  const StoredOptimizer& stored_;
  AssignedParameters assigned_;
};

}  // namespace

std::vector<std::int64_t> CheckpointParameter::shape_of_moments(bool moments_are) const {
  std::vector<std::int64_t> shape = block->shape;
  if (are_transposed(moments_are)) std::ranges::reverse(shape);
  return shape;
}

std::vector<CheckpointParameter> checkpoint_parameters(const Model& model,
                                                       const io::TensorFile& checkpoint) {
  std::vector<CheckpointParameter> all;
  for (const io::TensorInfo& tensor : checkpoint.tensors()) {
    const auto found = std::ranges::find(model.parameters, tensor.name, &ParameterBlock::name);
    if (found == model.parameters.end()) continue;
    all.push_back({&*found, static_cast<std::size_t>(found - model.parameters.begin()), &tensor});
  }
  const auto first_place = [&](const CheckpointParameter& own) {
    return std::ranges::find_if(checkpoint.tensors(), [&](const io::TensorInfo& tensor) {
      return is_name_of(tensor, own, model);
    });
  };
  std::ranges::stable_sort(all, {}, [&](const CheckpointParameter& own) {
    return first_place(own) - checkpoint.tensors().begin();
  });
  return all;
}

AssignedParameters assign_parameters(const Model& model,
                                     const io::TensorFile& checkpoint,
                                     const io::TensorFile& file,
                                     const StoredOptimizer& stored) {
  return ParameterAssignment(model, checkpoint, file, stored).assign();
}

void require_as_many_parameters(const Model& model,
                                const io::TensorFile& file,
                                const StoredOptimizer& stored) {
  const std::size_t num_parameters = stored.groups.empty() ? 0 : stored.num_parameters();
  const std::size_t num_ours = model.parameters.size();
  std::multiset<std::int64_t> sizes;
  for (const ParameterBlock& block : model.parameters) sizes.insert(block.size);
  for (const ModelBuffer& buffer : model.buffers) {
    if (buffer.is_frozen) sizes.insert(std::ssize(buffer.values));
  }
  const bool has_frozen_ones =
      num_parameters == sizes.size() || numbers_frozen_ones(stored, num_ours);
  if (num_parameters > 0 && !has_frozen_ones) require_same_number(num_parameters, num_ours);
  for (const auto& [parameter, entry] : stored.entries) {
    if (entry.tensors.empty()) continue;
    const io::TensorInfo& kept = *file.find(entry.tensors.begin()->second);
    const auto found = sizes.find(kept.num_elements());
    if (found == sizes.end()) {
      throw UnusableState{
          fmt::format("tensor '{}' has shape {}, which fits no parameter of the model",
                      kept.name,
                      shape_text(kept.shape))};
    }
    sizes.erase(found);
  }
}

}  // namespace hesscope::detail
