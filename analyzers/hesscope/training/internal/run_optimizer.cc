// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>

#include <hesscope/training/internal/run_optimizer.h>

namespace hesscope::detail {
namespace {

// Of an array that a rule remembers, as it lies in the parameters.
Eigen::VectorXd remembered(const TrainingRun& training,
                           const std::string& name,
                           std::span<const ParameterBlock> blocks) {
  Eigen::VectorXd all(blocks.back().offset + blocks.back().size);
  const std::vector<StateTensor> state = training.rule_state();
  for (const ParameterBlock& block : blocks) {
    const auto found = std::ranges::find(state, name + "." + block.name, &StateTensor::name);
    all.segment(block.offset, block.size) =
        Eigen::Map<const Eigen::VectorXd>(found->values.data(), block.size);
  }
  return all;
}

}  // namespace

OptimizerState optimizer_of(const ExperimentRun& run,
                            const TrainingRun& training,
                            std::span<const ParameterBlock> blocks,
                            const std::vector<bool>& trained) {
  OptimizerState state{.kind = OptimizerKind::kUnknown};
  OptimizerSettings settings{.learning_rate = run.learning_rate};
  if (run.rule == "gd") {
    state.kind = OptimizerKind::kSgd;
    settings.momentum = 0;
  } else if (run.rule == "sgd") {
    state.kind = OptimizerKind::kSgd;
    settings.momentum = run.settings.real("momentum");
    settings.dampening = run.settings.real("dampening");
    settings.weight_decay = run.settings.real("weight-decay");
    settings.is_nesterov = run.settings.boolean("nesterov");
  } else if (run.rule == "adam" || run.rule == "adamw") {
    state.kind = OptimizerKind::kAdam;
    settings.beta1 = run.settings.real("beta1");
    settings.beta2 = run.settings.real("beta2");
    settings.epsilon = run.settings.real("epsilon");
    settings.weight_decay = run.settings.real("weight-decay");
    settings.is_decoupled = run.rule == "adamw";
    if (training.num_steps() > 0) {
      state.second_moments = remembered(training, "exp_avg_sq", blocks);
    }
  }
  state.groups = {settings};
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    OptimizerState::Block& block = state.blocks.emplace_back();
    if (trained[b]) block.group = 0;
    if (training.num_steps() > 0) block.step = training.num_steps();
  }
  return state;
}

}  // namespace hesscope::detail
