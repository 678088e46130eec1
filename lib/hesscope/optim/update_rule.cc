// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/exact_integers.h>
#include <hesscope/optim/update_rule.h>

namespace hesscope {
namespace {

const std::string kStep = "step";

constexpr auto kMostSteps = static_cast<double>(detail::kLargestExactInteger);

}  // namespace

UpdateRule::UpdateRule(std::span<const ParameterBlock> blocks)
    : blocks_(blocks.begin(), blocks.end()),
      num_parameters_(require_blocks("UpdateRule", blocks)) {}

Eigen::VectorXd UpdateRule::step(const ConstVectorRef& theta, const ConstVectorRef& gradient) {
  if (theta.size() != num_parameters_ || gradient.size() != num_parameters_) {
    throw PreconditionError(
        fmt::format("UpdateRule::step: theta and gradient must have {} entries, got {} and {}",
                    num_parameters_,
                    theta.size(),
                    gradient.size()));
  }
  Eigen::VectorXd u = update(theta, gradient);
  if (u.size() != num_parameters_) {
    throw PreconditionError(
        fmt::format("UpdateRule::update() returned {} entries, which must be {}, as many as "
                    "parameters",
                    u.size(),
                    num_parameters_));
  }
  ++num_steps_;
  return u;
}

void UpdateRule::add_setting(const std::string& name, double value) {
  if (std::isnan(value)) {
    throw PreconditionError(fmt::format("UpdateRule::add_setting: '{}' is NaN", name));
  }
  settings_.push_back({name, value});
}

Eigen::VectorXd& UpdateRule::add_state(const std::string& name) { return add_state(name, blocks_); }

Eigen::VectorXd& UpdateRule::add_state(const std::string& name,
                                       std::vector<ParameterBlock> layout) {
  if (std::ranges::find(arrays_, name, &Array::name) != arrays_.end()) {
    throw PreconditionError(
        fmt::format("UpdateRule::add_state: the memory has an array '{}' already", name));
  }
  const Eigen::Index size = require_blocks("UpdateRule::add_state", layout);
  arrays_.push_back({name, std::move(layout), Eigen::VectorXd::Zero(size)});
  return arrays_.back().values;
}

std::vector<StateTensor> UpdateRule::state() const {
  std::vector<StateTensor> all = {{kStep, {}, {static_cast<double>(num_steps_)}}};
  for (const Array& array : arrays_) {
    for (const ParameterBlock& part : array.layout) {
      const double* first = array.values.data() + part.offset;
      all.push_back({array.name + "." + part.name, part.shape, {first, first + part.size}});
    }
  }
  return all;
}

void UpdateRule::restore(std::span<const StateTensor> state) {
  std::map<std::string, const StateTensor*> given;
  for (const StateTensor& tensor : state) given[tensor.name] = &tensor;
  const auto refuse = [](const std::string& name, const std::string& what) {
    throw PreconditionError(fmt::format("UpdateRule::restore: tensor '{}' {}", name, what));
  };
  std::vector<const StateTensor*> wanted;
  for (const StateTensor& own : this->state()) {
    const auto found = given.find(own.name);
    if (found == given.end()) refuse(own.name, "is missing");
    const StateTensor& tensor = *found->second;
    if (tensor.shape != own.shape || tensor.values.size() != own.values.size()) {
      refuse(own.name,
             fmt::format("must have the shape ({}), got ({}) with {} values",
                         fmt::join(own.shape, ", "),
                         fmt::join(tensor.shape, ", "),
                         tensor.values.size()));
    }
    wanted.push_back(&tensor);
    given.erase(found);
  }
  if (!given.empty()) refuse(given.begin()->first, "is not of this rule");
  const double steps = wanted.front()->values[0];
  if (!(steps >= 0 && steps <= kMostSteps && std::floor(steps) == steps)) {
    refuse(kStep, fmt::format("must be a number of steps, got {}", steps));
  }
  num_steps_ = static_cast<std::int64_t>(steps);
  auto next = wanted.begin() + 1;
  for (Array& array : arrays_) {
    for (const ParameterBlock& part : array.layout) {
      array.values.segment(part.offset, part.size) =
          Eigen::Map<const Eigen::VectorXd>((*next++)->values.data(), part.size);
    }
  }
}

}  // namespace hesscope
