// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/training/internal/training_remarks.h>

namespace hesscope::detail {
namespace {

// No monitor sees what an optimiser's weight decay adds to curvature.
void remark_on_weight_decay(const ExperimentFile& experiment,
                            const std::string& only,
                            std::vector<std::string>& remarks) {
  constexpr char kDecay[] = "weight-decay";
  if (experiment.monitors.empty()) return;
  for (const ExperimentRun& run : experiment.runs) {
    const bool is_trained = only.empty() || only == run.name;
    if (!is_trained || !run.settings.values().contains(kDecay)) continue;
    const double decay = run.settings.real(kDecay);
    if (decay == 0) continue;
    remarks.push_back(fmt::format(
        "{}: the weight-decay of run '{}' ({}) is its optimiser's and not in the loss that "
        "monitors look at: what it does to the curvature in training is not in their numbers; with "
        "weight_decay in [model] instead it is in the loss, and so in every optimiser's gradient",
        experiment.path.string(),
        run.name,
        decay));
    return;
  }
}

// Thresholds are those of training all parameters.
void remark_on_untrained(const ExperimentFile& experiment, std::vector<std::string>& remarks) {
  for (const std::string& monitor : experiment.monitors) {
    if (monitor != "stability" && monitor != "sharpening") continue;
    remarks.push_back(fmt::format(
        "{}: 'trained' leaves parameters out, so monitor {} does not compare the curvature of all "
        "of them with thresholds of the optimiser; monitor edge compares that of the trained ones",
        experiment.path.string(),
        monitor));
    return;
  }
}

}  // namespace

std::vector<std::string> training_remarks(const ExperimentFile& experiment,
                                          const std::string& run,
                                          std::int64_t num_samples,
                                          bool trains_all) {
  std::vector<std::string> remarks;
  if (num_samples > 0 && experiment.batch > num_samples) {
    remarks.push_back(
        fmt::format("{}: 'batch' is {}, but there are {} samples to train on: every step takes all "
                    "of them, as with batch = 0",
                    experiment.path.string(),
                    experiment.batch,
                    num_samples));
  }
  const DataSettings& data = experiment.data;
  const DataSettings& evaluation = experiment.evaluation;
  if (evaluation.has_default_seed && data.seed == evaluation.seed &&
      data.sampler == evaluation.sampler) {
    remarks.push_back(fmt::format(
        "{}: samples of [evaluation] are drawn with the seed {}, as those of [data] are: "
        "they are samples that are trained on, unless [evaluation] has another 'seed' (or "
        "the same, which says that this is meant)",
        experiment.path.string(),
        *evaluation.seed));
  }
  if (experiment.start && !experiment.initialization.patterns.empty()) {
    remarks.push_back(
        fmt::format("{}: [initialization] names a checkpoint, where all parameters start: what "
                    "[initialization.blocks] says of some of them has no effect",
                    experiment.path.string()));
  }
  const auto& steps = experiment.history_steps;
  if (!steps.empty() && steps.back() > experiment.num_steps) {
    remarks.push_back(
        fmt::format("{}: 'history_steps' names step {}, but the last is {}: the history ends there",
                    experiment.path.string(),
                    steps.back(),
                    experiment.num_steps));
  }
  remark_on_weight_decay(experiment, run, remarks);
  if (!trains_all) remark_on_untrained(experiment, remarks);
  return remarks;
}

}  // namespace hesscope::detail
