// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/exact_integers.h>
#include <hesscope/optim/clipping.h>
#include <hesscope/optim/training_run.h>

namespace hesscope {
namespace {

bool have_same_layout(std::span<const ParameterBlock> a, std::span<const ParameterBlock> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.shape == y.shape && x.offset == y.offset;
  });
}

// A state: num_steps, batch_loss, whether the run has diverged, num_above, theta, then the rule's
// tensors.
constexpr std::size_t kHeadSize = 4;

}  // namespace

TrainingRun::TrainingRun(BatchLoss& losses,
                         std::unique_ptr<UpdateRule> rule,
                         Eigen::VectorXd start,
                         Options options)
    : losses_(&losses),
      rule_(std::move(rule)),
      theta_(std::move(start)),
      options_(std::move(options)),
      batch_loss_(kNaN) {
  const auto refuse = [](const std::string& what) {
    throw PreconditionError("TrainingRun: " + what);
  };
  const std::span<const ParameterBlock> blocks = losses.parameter_blocks();
  if (rule_ == nullptr || !have_same_layout(rule_->parameter_blocks(), blocks)) {
    refuse("the update rule must be made for the parameter blocks of the losses");
  }
  if (rule_->num_steps() != 0) {
    refuse(
        fmt::format("the update rule must not have made a step, got one that has made {}; "
                    "resume() takes its memory",
                    rule_->num_steps()));
  }
  if (theta_.size() != rule_->num_parameters() || !theta_.allFinite()) {
    refuse(fmt::format("the start must have {} finite entries", rule_->num_parameters()));
  }
  if (!(options_.learning_rate >= 0 && std::isfinite(options_.learning_rate))) {
    refuse(fmt::format("the learning rate must be at least 0, got {}", options_.learning_rate));
  }
  if (std::isnan(options_.loss_limit)) refuse("loss_limit must be a number");
  if (options_.clip_norm && !(*options_.clip_norm > 0)) {
    refuse(fmt::format("clip_norm must be above 0, got {}", *options_.clip_norm));
  }
  if (options_.clip_fraction && !(*options_.clip_fraction >= 0 && *options_.clip_fraction < 1)) {
    refuse(fmt::format("clip_fraction must be in [0, 1), got {}", *options_.clip_fraction));
  }
  const std::vector<bool>& trained = options_.trained;
  if (trained.empty()) return;
  if (trained.size() != blocks.size()) {
    refuse(
        fmt::format("'trained' must say it of {} blocks, got {}", blocks.size(), trained.size()));
  }
  if (std::all_of(trained.begin(), trained.end(), [](bool is) { return is; })) return;
  mask_ = Eigen::VectorXd::Zero(theta_.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (trained[b]) mask_.segment(blocks[b].offset, blocks[b].size).setOnes();
  }
}

Eigen::VectorXd TrainingRun::trained_gradient(Eigen::VectorXd gradient) const {
  if (mask_.size() > 0) gradient = gradient.cwiseProduct(mask_);
  if (options_.clip_norm) gradient = clip_norm(gradient, *options_.clip_norm);
  if (!options_.clip_fraction) return gradient;
  if (mask_.size() == 0) return clip_coordinates(gradient, *options_.clip_fraction);
  // A fraction of the trained entries only: the zeros of the others must not be ranked.
  std::vector<Eigen::Index> trained;
  for (Eigen::Index i = 0; i < mask_.size(); ++i) {
    if (mask_[i] != 0) trained.push_back(i);
  }
  gradient(trained) = clip_coordinates(gradient(trained), *options_.clip_fraction);
  return gradient;
}

Status TrainingRun::step() {
  if (has_diverged_) return Status::kNonFinite;
  Objective::ValueAndGradient found = losses_->value_and_gradient(theta_, num_steps_);
  const int num_above = found.value <= options_.loss_limit ? 0 : num_above_ + 1;
  has_diverged_ =
      !(std::isfinite(found.value) && num_above < kLossPatience && found.gradient.allFinite());
  if (has_diverged_) return Status::kNonFinite;
  Eigen::VectorXd update = rule_->step(theta_, trained_gradient(std::move(found.gradient)));
  if (mask_.size() > 0) update = (mask_.array() != 0).select(update, 0.0);
  update *= options_.learning_rate;
  update += theta_;
  has_diverged_ = !update.allFinite();
  if (has_diverged_) return Status::kNonFinite;
  theta_.swap(update);
  batch_loss_ = found.value;
  num_above_ = num_above;
  ++num_steps_;
  return Status::kOk;
}

std::vector<double> TrainingRun::state() const {
  std::vector<double> all = {
      static_cast<double>(num_steps_), batch_loss_, has_diverged_ ? 1.0 : 0.0, 1.0 * num_above_};
  all.insert(all.end(), theta_.begin(), theta_.end());
  for (const StateTensor& tensor : rule_->state()) {
    all.insert(all.end(), tensor.values.begin(), tensor.values.end());
  }
  return all;
}

void TrainingRun::restore_rule(std::span<const StateTensor> memory,
                               std::int64_t num_steps,
                               bool has_diverged) {
  const std::vector<StateTensor> before = rule_->state();
  rule_->restore(memory);
  const std::int64_t made = rule_->num_steps();
  // The step in which a run diverges is none of its own, but may have reached the rule.
  if (made == num_steps || (has_diverged && made == num_steps + 1)) return;
  rule_->restore(before);
  throw PreconditionError(fmt::format(
      "TrainingRun: expected the memory that the update rule has after {} steps, got that after {}",
      num_steps,
      made));
}

void TrainingRun::restore(std::span<const double> state) {
  std::vector<StateTensor> tensors = rule_->state();
  std::size_t size = kHeadSize + static_cast<std::size_t>(theta_.size());
  for (StateTensor& tensor : tensors) {
    const std::size_t first = std::min(size, state.size());
    size += tensor.values.size();
    const std::span<const double> values =
        state.subspan(first, std::min(tensor.values.size(), state.size() - first));
    tensor.values.assign(values.begin(), values.end());
  }
  constexpr auto kMostSteps = static_cast<double>(detail::kLargestExactInteger);
  const auto is_state = [&] {
    if (state.size() != size) return false;
    const auto theta = state.subspan(kHeadSize, static_cast<std::size_t>(theta_.size()));
    return state[0] >= 0 && state[0] <= kMostSteps && state[0] == std::floor(state[0]) &&
           (state[2] == 0 || state[2] == 1) && state[3] >= 0 && state[3] < kLossPatience &&
           state[3] == std::floor(state[3]) &&
           std::all_of(theta.begin(), theta.end(), [](double x) { return std::isfinite(x); });
  };
  if (!is_state()) {
    throw PreconditionError(
        fmt::format("TrainingRun::restore: expected the {} numbers of a state, got {}{}",
                    size,
                    state.size(),
                    state.size() == size ? " others" : ""));
  }
  const auto num_steps = static_cast<std::int64_t>(state[0]);
  const bool has_diverged = state[2] == 1;
  restore_rule(tensors, num_steps, has_diverged);
  num_steps_ = num_steps;
  batch_loss_ = state[1];
  has_diverged_ = has_diverged;
  num_above_ = static_cast<int>(state[3]);
  theta_ = Eigen::Map<const Eigen::VectorXd>(state.data() + kHeadSize, theta_.size());
}

void TrainingRun::resume(std::int64_t num_steps,
                         Eigen::VectorXd parameters,
                         std::span<const StateTensor> memory) {
  if (num_steps < 0 || parameters.size() != theta_.size() || !parameters.allFinite()) {
    throw PreconditionError(fmt::format(
        "TrainingRun::resume: expected {} finite parameters after 0 steps or more, got {} after {}",
        theta_.size(),
        parameters.size(),
        num_steps));
  }
  restore_rule(memory, num_steps, false);
  theta_ = std::move(parameters);
  num_steps_ = num_steps;
  batch_loss_ = kNaN;
  num_above_ = 0;
  has_diverged_ = false;
}

}  // namespace hesscope
