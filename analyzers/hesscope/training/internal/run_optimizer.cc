// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <vector>

#include <hesscope/problem/internal/optimizer_kinds.h>
#include <hesscope/problem/stored_optimizer.h>
#include <hesscope/training/internal/run_optimizer.h>

namespace hesscope::detail {

OptimizerState optimizer_of(const TrainingRun& training,
                            std::span<const ParameterBlock> blocks,
                            const std::vector<bool>& trained) {
  const bool has_memory = training.num_steps() > 0;
  StoredOptimizer stored;
  StoredOptimizer::Group& group = stored.groups.emplace_back();
  group.numbers["lr"] = training.learning_rate();
  for (const RuleSetting& setting : training.rule_settings()) {
    group.numbers[setting.name] = setting.value;
  }
  const std::vector<StateTensor> memory = training.rule_state();
  for (const StateTensor& tensor : memory) {
    const std::size_t point = tensor.name.find('.');
    if (point == std::string::npos) continue;
    stored.entries[tensor.name.substr(point + 1)].tensors[tensor.name.substr(0, point)] =
        tensor.name;
  }
  recognise_kind(stored);

  OptimizerState state{.kind = stored.kind, .groups = {group.settings}};
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    OptimizerState::Block& block = state.blocks.emplace_back();
    if (trained[b]) block.group = 0;
    if (has_memory) block.step = training.num_steps();
  }
  if (state.kind != OptimizerKind::kAdam || !has_memory) return state;
  state.second_moments.resize(blocks.back().offset + blocks.back().size);
  for (const ParameterBlock& block : blocks) {
    const auto found = std::ranges::find(memory, "exp_avg_sq." + block.name, &StateTensor::name);
    state.second_moments.segment(block.offset, block.size) =
        Eigen::Map<const Eigen::VectorXd>(found->values.data(), block.size);
  }
  return state;
}

}  // namespace hesscope::detail
