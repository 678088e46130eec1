// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analysis/internal/checkpoint_inputs.h>
#include <hesscope/analysis/internal/chosen_analyzers.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/stop_request.h>
#include <hesscope/core/suggest.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/objective/sampled_records.h>
#include <hesscope/optim/update_rule_registry.h>
#include <hesscope/problem/internal/data_file.h>
#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/problem/problem.h>
#include <hesscope/sampling/sampler_registry.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/tensor_file.h>
#include <hesscope/tensors/wrapped_names.h>
#include <hesscope/training/internal/training_remarks.h>
#include <hesscope/training/internal/training_setup.h>

namespace hesscope::detail {
namespace {

// If a distribution does not fit the model, the experiment is wrong; if a file does not fit, the
// file is wrong.
template <typename F>
auto fit(const std::unique_ptr<Sampler>& sampler, const F& call) {
  try {
    return call();
  } catch (const InputError& error) {
    if (sampler != nullptr) throw ConfigError(error.what());
    throw;
  }
}

io::TensorFile opened(const std::filesystem::path& path, const std::stop_token& stop) {
  return io::open_tensor_file(
      std::make_shared<io::InputFile>(path, io::InputFile::kCheckpoint, stop));
}

// A [data] or [evaluation] table, opened.
struct SampleSource {
  SampleSource(const DataSettings& table,
               const ExperimentFile& experiment,
               const Executor& threads,
               const std::stop_token& stop)
      : settings(&table), executor(&threads) {
    const std::filesystem::path folder = experiment.path.parent_path();
    if (table.sampler.empty()) {
      file.emplace(
          open_data(table.path, table.arrays, experiment.model_kind, experiment.path, stop));
    } else {
      sampler = at_place(table.location,
                         [&] { return make_sampler(table.sampler, table.settings, folder); });
    }
  }

  TensorShapes shapes() const {
    return file ? shapes_of(*file)
                : shapes_of(*sampler, settings->samples.value_or(1), settings->location);
  }

  std::string sha256() const { return file ? io::sha256_of(*file) : sampler->files_sha256(); }

  SampleTable table(const Model& model, std::uint64_t seed, Stream stream) const {
    if (file) return read_samples(model, *file);
    return fit(sampler, [&] {
      return SampledRecords(model, *sampler, settings->location)
          .table(seed, stream, *settings->samples, *executor);
    });
  }

  const DataSettings* settings;
  const Executor* executor;
  std::optional<io::TensorFile> file;
  std::unique_ptr<Sampler> sampler;
};

bool are_same_arrays(const DataSettings& a, const DataSettings& b) {
  const auto is_same = [](const io::TensorRule& x, const io::TensorRule& y) {
    return x.name == y.name && x.source == y.source;
  };
  return a.path == b.path && std::ranges::equal(a.arrays.rules, b.arrays.rules, is_same);
}

// Files are represented by their digests, which are added separately, not by their paths.
void append(io::RunConfiguration& all,
            const std::string& prefix,
            const Settings& settings,
            std::span<const SettingKey> keys) {
  for (const auto& [name, value] : settings.values()) {
    const SettingKey* const key = find_or_null(keys, name);
    if (key != nullptr && key->is_path) continue;
    all.emplace_back(prefix + name, text_of(value));
  }
}

void append(io::RunConfiguration& all, const std::string& prefix, const DataSettings& data) {
  all.emplace_back(prefix + "kind", data.sampler.empty() ? "file" : data.sampler);
  if (!data.sampler.empty()) {
    append(all, prefix, data.settings, find_sampler_kind(data.sampler)->keys);
  }
  for (const io::TensorRule& rule : data.arrays.rules) {
    all.emplace_back(prefix + "arrays." + rule.name, rule.source);
  }
  if (data.samples) all.emplace_back(prefix + "samples", fmt::format("{}", *data.samples));
  if (data.seed) all.emplace_back(prefix + "seed", fmt::format("{}", *data.seed));
}

std::string text_of(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "none";
}

std::string text_of(const InitialDistribution& distribution) {
  std::string text = distribution.name;
  for (const auto& [name, value] : distribution.settings.values()) {
    text += fmt::format(" {} = {}", name, detail::text_of(value));
  }
  return text;
}

bool is_same_block(const ParameterBlock& a, const ParameterBlock& b) {
  return a.name == b.name && a.shape == b.shape;
}

// The named analyzers, each once.
std::vector<const AnalyzerKind*> monitor_kinds(const std::vector<std::string>& names) {
  std::vector<const AnalyzerKind*> kinds;
  for (const std::string& name : names) {
    const AnalyzerKind& kind = find_analyzer_kind(name);
    if (std::ranges::find(kinds, &kind) != kinds.end()) {
      throw ConfigError(fmt::format("'monitors' names '{}' twice", name));
    }
    kinds.push_back(&kind);
  }
  return kinds;
}

std::vector<Monitor> monitors_of(const ExperimentFile& experiment) {
  const std::vector<const AnalyzerKind*> kinds =
      at_place(experiment.monitors_location, [&] { return monitor_kinds(experiment.monitors); });
  std::vector<SettingKey> keys;
  for (const AnalyzerKind* kind : kinds) {
    keys.insert(keys.end(), kind->options.begin(), kind->options.end());
  }
  const auto& locations = experiment.monitor_option_locations;
  if (keys.empty() && !experiment.monitor_options.empty()) {
    const std::string& key = experiment.monitor_options.begin()->first;
    throw ConfigError(fmt::format("{}: '{}' in [monitors]: {} has no options",
                                  locations.at(key),
                                  key,
                                  fmt::join(experiment.monitors, ", ")));
  }
  Settings::checked(experiment.monitor_options, keys, "[monitors]", locations);
  const auto table = locations.find("");
  const std::string place = table == locations.end() ? "" : table->second;
  std::vector<Monitor> monitors;
  for (const AnalyzerKind* kind : kinds) {
    monitors.push_back(
        at_place(place, [&] { return chosen_with(*kind, experiment.monitor_options); }));
  }
  return monitors;
}

}  // namespace

TrainingSetup::TrainingSetup(ExperimentFile experiment,
                             int num_threads,
                             const std::stop_token& stop)
    : experiment_(std::move(experiment)), stop_(stop) {
  require_utf8_name(experiment_.path);
  monitors_ = monitors_of(experiment_);
  const Executor executor(num_threads, stop_requested_by(stop));
  require_known_arrays(find_model_kind(experiment_.model_kind)->arrays);
  SampleSource data(experiment_.data, experiment_, executor, stop);
  const SampleSource evaluation(experiment_.evaluation, experiment_, executor, stop);
  Model model = fit(data.sampler, [&] { return made_for(data.shapes()); });
  require_known_arrays(names_of(model.arrays));
  trained_ = at_place(experiment_.trained_location,
                      [&] { return blocks_matching(model.parameters, experiment_.trained); });
  for (const ExperimentRun& run : experiment_.runs) {  // refuses settings that the model is not for
    make_update_rule(find_update_rule_kind(run.rule), run.settings, model.parameters);
  }
  at_place(experiment_.initialization_location, [&] {
    if (experiment_.start) return Eigen::VectorXd();
    return initial_parameters(
        model.parameters, experiment_.initialization, 0, model.own_parameters);
  });
  if (data.file || (experiment_.data.samples && experiment_.data.seed)) {
    fixed_ = std::make_shared<SampleTable>(
        data.table(model, experiment_.data.seed.value_or(0), Stream::kEvaluation));
  } else {
    fit(data.sampler, [&] {
      return SampledRecords(model, *data.sampler, experiment_.data.location).record_size();
    });
  }
  SampleTable samples =
      evaluation.table(model, experiment_.evaluation.seed.value_or(0), Stream::kEvaluation);
  data_sha256_ = data.sha256();
  evaluation_sha256_ = evaluation.sha256();
  sampler_ = std::move(data.sampler);
  const GraphObjective::Options options{.num_threads = num_threads, .stop = executor.stop()};
  // Drawn samples only have shapes, by which all samples have the same model; a loss that depends
  // on the weights of targets refuses them.
  if (data.file && evaluation.sampler != nullptr) {
    fit(evaluation.sampler, [&] { return made_for(evaluation.shapes()); });
  } else if (data.file && !are_same_arrays(experiment_.data, experiment_.evaluation)) {
    Model evaluated = evaluated_model(model, evaluation.shapes());
    training_ = std::make_unique<GraphObjective>(std::move(model), fixed_, options);
    model = std::move(evaluated);
  }
  objective_ = std::make_unique<GraphObjective>(std::move(model), std::move(samples), options);
  if (!monitors_.empty()) at_place(experiment_.monitors_location, [&] { check_monitors(); });
}

void TrainingSetup::require_known_arrays(std::span<const std::string> names) const {
  if (names.empty()) return;
  for (const DataSettings* table : {&experiment_.data, &experiment_.evaluation}) {
    detail::require_known_arrays(table->arrays, experiment_.model_kind, names);
  }
}

// If a monitor cannot work with this model, or with its samples, it is refused now and not in the
// middle of a run.
void TrainingSetup::check_monitors() const {
  need_full_proof(monitors_, SpectrumMethod::kAuto);
  require_matrix(monitors_, SpectrumMethod::kAuto, objective_->num_parameters());
  const auto seen = monitored(training_set(experiment_.seeds.front()));
  for (const Monitor& monitor : monitors_) {
    monitor.analyzer->dimensions(*seen);
    const std::string option = monitor.analyzer->needs_fresh_samples();
    if (option.empty()) continue;
    throw ConfigError(fmt::format(
        "{} draws new samples, and a monitor looks at those that are trained on; analyze the "
        "checkpoints of the run instead",
        option));
  }
}

// The start checkpoint decides which tensors of a file are parameters, and supplies its buffers, as
// in an analysis.
Model TrainingSetup::make_model(const ModelSources& sources) const {
  const ModelKind& kind = *find_model_kind(experiment_.model_kind);
  if (!experiment_.start || !kind.has_own_parameters) return kind.create(sources);
  const io::TensorFile start =
      io::unwrapped(opened(experiment_.start->of_seed(experiment_.seeds.front()), stop_));
  return kind.build(sources, parameter_shapes_of(start));
}

Model TrainingSetup::made_for(const TensorShapes& shapes) const {
  return at_place(experiment_.model_location, [&] {
    return make_model({experiment_.model, shapes, experiment_.path.parent_path()});
  });
}

Model TrainingSetup::evaluated_model(const Model& trained, const TensorShapes& shapes) const {
  Model model = made_for(shapes);
  const bool is_same = std::ranges::equal(model.parameters, trained.parameters, is_same_block) &&
                       model.arrays == trained.arrays;
  if (!is_same) {
    throw InputError(fmt::format("{}: makes another model than {}, with other parameters or arrays",
                                 shapes.source,
                                 experiment_.data.path.string()));
  }
  return model;
}

TrainingSet TrainingSetup::training_set(std::uint64_t seed) const {
  if (fixed_ != nullptr || !experiment_.data.samples) return fixed_;
  return std::make_shared<SampleTable>(
      SampledRecords(objective_->model(), *sampler_, experiment_.data.location)
          .table(seed, Stream::kTraining, *experiment_.data.samples, objective_->executor()));
}

std::unique_ptr<BatchLoss> TrainingSetup::losses(std::uint64_t seed,
                                                 TrainingSet fixed,
                                                 std::int64_t batch) const {
  if (fixed == nullptr) return fresh_batches(training(), *sampler_, seed, batch);
  const Eigen::Index num_samples = fixed->rows();
  return shuffled_batches(training(), std::move(fixed), seed, batch == 0 ? num_samples : batch);
}

Eigen::VectorXd TrainingSetup::start_of(std::uint64_t seed) const {
  if (experiment_.start) return stored_start(seed).theta;
  const Model& model = objective_->model();
  return initial_parameters(
      model.parameters, experiment_.initialization, seed, model.own_parameters);
}

const TrainingSetup::StoredStart& TrainingSetup::stored_start(std::uint64_t seed) const {
  const std::lock_guard lock(*starts_mutex_);
  const auto known = starts_.find(seed);
  if (known != starts_.end()) return known->second;
  const io::TensorFile file = opened(experiment_.start->of_seed(seed), stop_);
  const auto buffers = buffers_of(objective_->model(), io::unwrapped(file));
  if (are_other_buffers(objective_->model(), buffers.get(), nullptr)) {
    throw InputError(fmt::format(
        "{}: its buffers (running statistics, say) are not those of the model; training "
        "changes parameters only, and cannot start there",
        file.path().string()));
  }
  StoredStart start{.theta = read_parameters(objective_->model(), file),
                    .sha256 = io::sha256_of(file)};
  if (!start.theta.allFinite()) {
    throw InputError(fmt::format("{}: its parameters are not finite; training cannot start there",
                                 file.path().string()));
  }
  return starts_.emplace(seed, std::move(start)).first->second;
}

std::int64_t TrainingSetup::num_training_samples() const {
  return fixed_ != nullptr ? fixed_->rows() : experiment_.data.samples.value_or(0);
}

bool TrainingSetup::is_full_batch() const {
  const std::int64_t num_samples = num_training_samples();
  return experiment_.batch == 0 || (num_samples > 0 && experiment_.batch >= num_samples);
}

std::vector<std::string> TrainingSetup::remarks(const std::string& run) const {
  const bool trains_all = std::ranges::all_of(trained_, std::identity());
  return training_remarks(experiment_, run, num_training_samples(), trains_all);
}

std::unique_ptr<GraphObjective> TrainingSetup::monitored(const TrainingSet& fixed) const {
  return std::make_unique<GraphObjective>(
      training().model(),
      fixed == nullptr ? objective_->shared_samples() : fixed,
      GraphObjective::Options{.num_threads = 1, .stop = objective_->executor().stop()});
}

TrainingRun TrainingSetup::make_run(const ExperimentRun& run,
                                    Eigen::VectorXd start,
                                    BatchLoss& losses) const {
  const std::span<const ParameterBlock> blocks = objective_->parameter_blocks();
  return {losses,
          make_update_rule(find_update_rule_kind(run.rule), run.settings, blocks),
          std::move(start),
          {.learning_rate = run.learning_rate,
           .clip_norm = experiment_.clip_norm,
           .clip_fraction = experiment_.clip_fraction,
           .trained = trained_,
           .loss_limit = experiment_.loss_limit}};
}

io::RunConfiguration TrainingSetup::configuration(const ExperimentRun& run,
                                                  std::uint64_t seed) const {
  const ExperimentFile& experiment = experiment_;
  io::RunConfiguration all = program_configuration();
  all.emplace_back("model.kind", experiment.model_kind);
  append(all, "model.", experiment.model, find_model_kind(experiment.model_kind)->keys);
  const std::string model_sha256 = sha256_of(objective_->model().files);
  if (!model_sha256.empty()) all.emplace_back("model_sha256", model_sha256);
  append(all, "data.", experiment.data);
  all.emplace_back("data_sha256", data_sha256_);
  append(all, "evaluation.", experiment.evaluation);
  all.emplace_back("evaluation_sha256", evaluation_sha256_);
  if (experiment.start) {
    all.emplace_back("initialization_sha256", stored_start(seed).sha256);
  } else {
    const InitialDistribution& otherwise = experiment.initialization.otherwise;
    all.emplace_back("initialization",
                     otherwise.name.empty() ? "the model's own" : text_of(otherwise));
    for (const auto& [pattern, distribution] : experiment.initialization.patterns) {
      all.emplace_back(fmt::format("initialization.blocks.{}", pattern), text_of(distribution));
    }
  }
  all.emplace_back("training.steps", fmt::format("{}", experiment.num_steps));
  all.emplace_back("training.batch", fmt::format("{}", experiment.batch));
  all.emplace_back("training.clip_norm", text_of(experiment.clip_norm));
  all.emplace_back("training.clip_fraction", text_of(experiment.clip_fraction));
  all.emplace_back("training.loss_limit", fmt::format("{}", experiment.loss_limit));
  all.emplace_back("training.checkpoint_every", fmt::format("{}", experiment.checkpoint_every));
  all.emplace_back("training.history_every", fmt::format("{}", experiment.history_every));
  all.emplace_back("training.history_steps",
                   fmt::format("{}", fmt::join(experiment.history_steps, ", ")));
  all.emplace_back("training.monitors", fmt::format("{}", fmt::join(experiment.monitors, ", ")));
  for (const auto& [name, value] : experiment.monitor_options) {
    all.emplace_back("monitors." + name, text_of(value));
  }
  all.emplace_back("training.trained", fmt::format("{}", fmt::join(experiment.trained, ", ")));
  all.emplace_back("run.name", run.name);
  all.emplace_back("run.rule", run.rule);
  append(all, "run.", run.settings, {});
  all.emplace_back("run.learning_rate", fmt::format("{}", run.learning_rate));
  all.emplace_back("seed", fmt::format("{}", seed));
  return all;
}

}  // namespace hesscope::detail
