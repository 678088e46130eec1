// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/problem/stored_adam.h>

namespace hesscope::detail {
namespace {

const std::string kOptimizer = "optimizer.";
const std::string kOwnMoments = "optimizer.exp_avg_sq.";
const std::string kOwnStep = "optimizer.step";

// A parameter as the model has it and as the checkpoint does, and its moments.
struct Moments {
  const ParameterBlock& block;
  const io::TensorInfo& parameter;
  const io::TensorInfo& moments;

  // Whether they are stored for the transpose of the parameter.
  bool are_transposed() const { return moments.is_transposed != parameter.is_transposed; }

  std::vector<std::int64_t> expected_shape() const {
    std::vector<std::int64_t> shape = block.shape;
    if (are_transposed()) std::ranges::reverse(shape);
    return shape;
  }
};

Eigen::VectorXd read_moments(const io::TensorFile& file, const Moments& of) {
  const std::string& name = of.moments.name;
  const std::vector<double> values = file.read(name);
  Eigen::VectorXd moments =
      Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  if (!moments.allFinite() || (moments.size() > 0 && !(moments.minCoeff() >= 0))) {
    throw InputError(fmt::format(
        "{}: tensor '{}' holds averages of squares, but a value is negative or not finite",
        file.where(),
        name));
  }
  if (of.are_transposed()) {
    moments = moments.reshaped(of.block.shape[0], of.block.shape[1]).transpose().reshaped().eval();
  }
  return moments;
}

std::int64_t checked_step(const io::TensorFile& file, const std::string& name, double step) {
  if (!(step >= 1 && step <= 1e15) || step != std::floor(step)) {
    throw InputError(
        fmt::format("{}: tensor '{}' must be one whole number, at least 1", file.where(), name));
  }
  return static_cast<std::int64_t>(step);
}

// A scalar, as a tensor or beside the tensors.
std::optional<std::int64_t> read_step(const io::TensorFile& file, const std::string& name) {
  if (file.find(name) != nullptr) {
    const std::vector<double> step = file.read(name);
    return checked_step(file, name, step.size() == 1 ? step[0] : 0);
  }
  const std::optional<double> step = file.number(name);
  if (!step) return std::nullopt;
  return checked_step(file, name, *step);
}

// optimizer.exp_avg_sq.NAME and optimizer.step, as `hesscope train` stores them.
AdamState read_by_name(const Model& model, const io::TensorFile& checkpoint) {
  AdamState state;
  state.second_moments.resize(model.num_parameters());
  for (const ParameterBlock& block : model.parameters) {
    const std::string name = kOwnMoments + block.name;
    const io::TensorInfo* found = checkpoint.find(name);
    if (found == nullptr) checkpoint.read(name);  // refuses
    const Moments moments{block, *checkpoint.find(block.name), *found};
    const std::vector<std::int64_t> expected = moments.expected_shape();
    if (found->shape != expected) {
      throw InputError(fmt::format("{}: tensor '{}': expected shape {}, found {}",
                                   checkpoint.where(),
                                   name,
                                   io::shape_text(expected),
                                   io::shape_text(found->shape)));
    }
    state.second_moments.segment(block.offset, block.size) = read_moments(checkpoint, moments);
  }
  state.step = read_step(checkpoint, kOwnStep);
  return state;
}

// The states that torch.optim.Adam's state_dict() has: by the prefix it stands under
// ("optimizer_state_dict."), and the number of the parameter.
using TorchStates = std::map<std::string, std::map<std::int64_t, const io::TensorInfo*>>;

TorchStates find_torch_states(const io::TensorFile& file) {
  constexpr std::string_view kMoments = ".exp_avg_sq";
  constexpr std::string_view kStates = "state.";
  TorchStates states;
  for (const io::TensorInfo& tensor : file.tensors()) {
    std::string_view name = tensor.name;
    if (!name.ends_with(kMoments)) continue;
    name.remove_suffix(kMoments.size());
    const std::string_view digits = name.substr(name.rfind('.') + 1);
    name.remove_suffix(digits.size());
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size() || number < 0 ||
        !name.ends_with(kStates)) {
      continue;
    }
    name.remove_suffix(kStates.size());
    if (name.empty() || name.ends_with('.')) states[std::string(name)][number] = &tensor;
  }
  return states;
}

// Parameters are numbered as model.parameters() has them, which is the order of a state_dict().
class TorchAdam {
 public:
  TorchAdam(const Model& model, const io::TensorFile& checkpoint, std::string prefix)
      : model_(model),
        checkpoint_(checkpoint),
        file_(checkpoint.whole()),
        prefix_(std::move(prefix)) {}

  AdamState read(const std::map<std::int64_t, const io::TensorInfo*>& states) const {
    AdamState state;
    state.obstacle = obstacle(states);
    if (!state.obstacle.empty()) return state;
    state.second_moments.resize(model_.num_parameters());
    std::vector<std::optional<std::int64_t>> steps;
    std::int64_t number = 0;
    for (const auto& [block, parameter] : in_order()) {
      state.second_moments.segment(block->offset, block->size) =
          read_moments(file_, {*block, *parameter, *states.at(number)});
      steps.push_back(read_step(file_, fmt::format("{}state.{}.step", prefix_, number++)));
    }
    state.step = steps.front();
    if (std::adjacent_find(steps.begin(), steps.end(), std::not_equal_to<>()) != steps.end()) {
      return {.obstacle = text("its parameters have made different numbers of steps")};
    }
    return state;
  }

 private:
  std::string text(const std::string& reason) const {
    return fmt::format("{}: the state of Adam under '{}' cannot be used: {}",
                       file_.path().string(),
                       prefix_,
                       reason);
  }

  // The parameters as the checkpoint lists them.
  std::vector<std::pair<const ParameterBlock*, const io::TensorInfo*>> in_order() const {
    std::vector<std::pair<const ParameterBlock*, const io::TensorInfo*>> parameters;
    for (const io::TensorInfo& tensor : checkpoint_.tensors()) {
      const auto found = std::ranges::find(model_.parameters, tensor.name, &ParameterBlock::name);
      if (found != model_.parameters.end()) parameters.emplace_back(&*found, &tensor);
    }
    return parameters;
  }

  std::string obstacle(const std::map<std::int64_t, const io::TensorInfo*>& states) const {
    const std::string groups = prefix_ + "param_groups.";
    if (file_.number(groups + "1.params.0")) {
      return text(
          "it has several groups of parameters, and does not say which parameter is in which");
    }
    if (file_.find(prefix_ + "state.0.max_exp_avg_sq") != nullptr) {
      return text("it is that of AMSGrad, which divides by something else");
    }
    std::int64_t number = 0;
    for (const auto& [block, parameter] : in_order()) {
      const auto expected = static_cast<double>(number);
      if (file_.number(fmt::format("{}0.params.{}", groups, number)) != expected) {
        return text(fmt::format("'{}0.params' is not 0, 1, ... for the parameters", groups));
      }
      const auto found = states.find(number);
      if (found == states.end()) {
        return text(fmt::format("that of parameter {} ('{}') is missing", number, block->name));
      }
      const std::vector<std::int64_t> shape =
          Moments{*block, *parameter, *found->second}.expected_shape();
      if (found->second->shape != shape) {
        return text(fmt::format("parameter {} has shape {}, but '{}' has {}",
                                number,
                                io::shape_text(found->second->shape),
                                block->name,
                                io::shape_text(shape)));
      }
      ++number;
    }
    if (static_cast<std::size_t>(number) != states.size()) {
      return text(fmt::format("it is of {} parameters, the model has {}", states.size(), number));
    }
    return {};
  }

  const Model& model_;
  const io::TensorFile& checkpoint_;
  io::TensorFile file_;
  std::string prefix_;
};

}  // namespace

std::optional<AdamState> read_stored_adam(const Model& model, const io::TensorFile& checkpoint) {
  const auto has_moments = [](const io::TensorInfo& tensor) {
    return tensor.name.starts_with(kOwnMoments);
  };
  if (std::ranges::any_of(checkpoint.tensors(), has_moments)) {
    return read_by_name(model, checkpoint);
  }
  const io::TensorFile file = checkpoint.whole();
  const TorchStates states = find_torch_states(file);
  if (states.empty()) return std::nullopt;
  if (states.size() > 1) {
    return AdamState{
        .obstacle = fmt::format("{}: it has states of Adam under '{}' and '{}'; which one belongs "
                                "to these parameters is not known",
                                file.path().string(),
                                states.begin()->first,
                                std::next(states.begin())->first)};
  }
  const auto& [prefix, by_number] = *states.begin();
  return TorchAdam(model, checkpoint, prefix).read(by_number);
}

}  // namespace hesscope::detail
