// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/error.h>
#include <hesscope/storage/overwrite.h>
#include <hesscope/storage/sha256.h>
#include <hesscope/tensors/checkpoint_file.h>
#include <hesscope/tensors/tensor_file.h>
#include <hesscope/training/internal/training_checkpoints.h>

namespace hesscope::detail {
namespace {

namespace fs = std::filesystem;

const std::string kOptimizer = "optimizer.";

// "" if it cannot be read.
std::string digest_of_file(const fs::path& path) {
  try {
    return io::sha256_of_file(path);
  } catch (const InputError&) {
    return "";
  }
}

Eigen::VectorXd read_parameters(const io::TensorFile& file,
                                std::span<const ParameterBlock> blocks) {
  Eigen::VectorXd theta(blocks.back().offset + blocks.back().size);
  for (const ParameterBlock& block : blocks) {
    const std::vector<double> values = file.read(block.name);
    if (std::ssize(values) != block.size) {
      throw InputError(fmt::format("{}: tensor '{}' has {} entries, {} are expected",
                                   file.path().string(),
                                   block.name,
                                   values.size(),
                                   block.size));
    }
    theta.segment(block.offset, block.size) =
        Eigen::Map<const Eigen::VectorXd>(values.data(), block.size);
  }
  return theta;
}

// Whether it has the form of path_of(): step-000500.h5.
bool is_checkpoint_name(std::string_view name) {
  constexpr std::string_view kPrefix = "step-";
  constexpr std::string_view kEnding = ".h5";
  constexpr std::size_t kLeastDigits = 6;
  if (!name.starts_with(kPrefix) || !name.ends_with(kEnding)) return false;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(std::min(kEnding.size(), name.size()));
  return name.size() >= kLeastDigits && is_all_digits(name);
}

}  // namespace

std::vector<fs::path> checkpoints_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (is_checkpoint_name(name)) found.push_back(entry->path());
  }
  return found;
}

TrainingCheckpoints::TrainingCheckpoints(fs::path folder,
                                         const Model& model,
                                         std::vector<bool> trained)
    : folder_(std::move(folder)), model_(&model), trained_(std::move(trained)) {}

// Whether it has the form "exp_avg.NAME" and NAME is trained.
bool TrainingCheckpoints::is_kept(const StateTensor& tensor) const {
  const std::size_t point = tensor.name.find('.');
  if (point == std::string::npos) return true;
  const auto block = std::ranges::find(
      model_->parameters, std::string_view(tensor.name).substr(point + 1), &ParameterBlock::name);
  return block == model_->parameters.end() ||
         trained_[static_cast<std::size_t>(block - model_->parameters.begin())];
}

// As in PyTorch's param_groups: one group for all, or one for each trained block.
std::vector<RuleSetting> TrainingCheckpoints::stored_settings(const TrainingRun& run) const {
  std::vector<RuleSetting> stored;
  const auto add_group = [&](const std::string& name) {
    const std::string prefix = "param_groups." + name + ".";
    stored.push_back({prefix + "lr", run.learning_rate()});
    for (const RuleSetting& setting : run.rule_settings()) {
      stored.push_back({prefix + setting.name, setting.value});
    }
  };
  if (std::ranges::all_of(trained_, std::identity())) {
    add_group("0");
    return stored;
  }
  for (std::size_t b = 0; b < trained_.size(); ++b) {
    if (trained_[b]) add_group(model_->parameters[b].name);
  }
  return stored;
}

fs::path TrainingCheckpoints::path_of(std::int64_t step) const {
  return folder_ / fmt::format("step-{:06d}.h5", step);
}

void TrainingCheckpoints::write(const TrainingRun& run) {
  std::vector<io::CheckpointTensor> tensors;
  const Eigen::VectorXd& theta = run.parameters();
  for (const ParameterBlock& block : model_->parameters) {
    tensors.push_back({block.name,
                       block.shape,
                       {theta.data() + block.offset, static_cast<std::size_t>(block.size)}});
  }
  for (const ModelBuffer& buffer : model_->buffers) {
    if (buffer.values == buffer.values_if_absent) continue;
    tensors.push_back({buffer.name, buffer.shape, buffer.values});
  }
  const std::vector<RuleSetting> settings = stored_settings(run);
  for (const RuleSetting& setting : settings) {
    tensors.push_back({kOptimizer + setting.name, {}, {&setting.value, 1}});
  }
  // Before the first step there is no state.
  const std::vector<StateTensor> memory =
      run.num_steps() > 0 ? run.rule_state() : std::vector<StateTensor>();
  for (const StateTensor& tensor : memory) {
    if (!is_kept(tensor)) continue;
    tensors.push_back({kOptimizer + tensor.name, tensor.shape, tensor.values});
  }
  const fs::path path = path_of(run.num_steps());
  io::write_checkpoint(path, tensors, io::Existing::kReplace);
  digests_[run.num_steps()] = io::sha256_of_file(path);
}

std::vector<std::int64_t> TrainingCheckpoints::damaged_before(std::int64_t end) const {
  std::vector<std::int64_t> steps;
  for (const auto& [step, digest] : digests_) {
    if (step >= end) break;
    if (digest.empty() || digest_of_file(path_of(step)) != digest) steps.push_back(step);
  }
  return steps;
}

TrainingRun TrainingCheckpoints::run_before(
    std::int64_t step,
    std::span<const std::int64_t> damaged,
    const std::function<TrainingRun(const Eigen::VectorXd* parameters)>& start) const {
  auto place = digests_.lower_bound(step);
  while (place != digests_.begin()) {
    const std::int64_t before = std::prev(place)->first;
    if (!std::binary_search(damaged.begin(), damaged.end(), before)) break;
    --place;
  }
  if (place == digests_.begin()) return start(nullptr);
  const std::int64_t before = std::prev(place)->first;
  const io::TensorFile file = io::open_tensor_file(path_of(before));
  Eigen::VectorXd theta = read_parameters(file, model_->parameters);
  TrainingRun run = start(&theta);
  if (before > 0) {
    std::vector<StateTensor> memory = run.rule_state();
    for (StateTensor& tensor : memory) {
      if (is_kept(tensor)) tensor.values = file.read(kOptimizer + tensor.name);
    }
    run.resume(before, std::move(theta), memory);
  }
  return run;
}

std::vector<std::int64_t> TrainingCheckpoints::make_again(
    const std::vector<std::int64_t>& steps,
    const std::function<TrainingRun(const Eigen::VectorXd* parameters)>& start,
    const std::function<bool()>& tick) {
  std::vector<std::int64_t> made;
  std::optional<TrainingRun> run;
  for (auto step = steps.begin(); step != steps.end(); ++step) {
    const auto place = digests_.find(*step);
    const bool goes_on =
        run && place != digests_.begin() && std::prev(place)->first == run->num_steps();
    if (!goes_on) run.emplace(run_before(*step, {step, steps.end()}, start));
    while (run->num_steps() < *step) {
      if (run->step() != Status::kOk) {
        throw OutputError(fmt::format("{}: cannot be made again: the training diverges in step {}",
                                      path_of(*step).string(),
                                      run->num_steps() + 1));
      }
      if (!tick()) return made;
    }
    write(*run);
    made.push_back(*step);
  }
  return made;
}

}  // namespace hesscope::detail
