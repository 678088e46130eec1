// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/stop_request.h>
#include <hesscope/core/suggest.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/objective/sampled_records.h>
#include <hesscope/problem/internal/data_file.h>
#include <hesscope/problem/internal/fit_advice.h>
#include <hesscope/problem/internal/input_remarks.h>
#include <hesscope/problem/internal/optimizer_reading.h>
#include <hesscope/problem/internal/prediction_check.h>
#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/problem/problem.h>
#include <hesscope/problem/training_counters.h>
#include <hesscope/sampling/sampler_registry.h>
#include <hesscope/storage/sha256.h>
#include <hesscope/tensors/wrapped_names.h>

namespace hesscope {

TensorShapes shapes_of(const io::TensorFile& file) {
  TensorShapes shapes;
  shapes.source = file.where();
  shapes.format = file.format();
  shapes.read = [file](const std::string& name) { return file.read(name); };
  std::map<std::size_t, std::vector<std::string>> ties;
  for (const io::TensorInfo& tensor : file.tensors()) {
    shapes.shapes[tensor.name] = tensor.shape;
    shapes.types[tensor.name] = tensor.type;
    if (tensor.tie) ties[*tensor.tie].push_back(tensor.name);
    const std::string stored = file.stored_name(tensor.name);
    if (stored != tensor.name) shapes.renamed[stored] = tensor.name;
  }
  for (auto& [tie, names] : ties) {
    if (names.size() > 1) shapes.ties.push_back(std::move(names));
  }
  shapes.left_out.insert(file.left_out().begin(), file.left_out().end());
  for (const io::UnreadableTensor& tensor : file.unreadable()) {
    shapes.unreadable[tensor.name] = tensor.reason;
  }
  return shapes;
}

namespace {

const std::string kOptimizer = "optimizer.";

}  // namespace

TensorShapes parameter_shapes_of(const io::TensorFile& checkpoint) {
  io::require_readable_numbers(checkpoint);
  TensorShapes shapes = shapes_of(checkpoint);
  for (const io::TensorInfo& tensor : checkpoint.tensors()) {
    if (is_training_number(tensor)) shapes.training_numbers.insert(tensor.name);
    if (!tensor.name.starts_with(kOptimizer)) continue;
    shapes.shapes.erase(tensor.name);
    shapes.types.erase(tensor.name);
  }
  for (std::vector<std::string>& names : shapes.ties) {
    std::erase_if(names, [&](const std::string& name) { return !shapes.has(name); });
  }
  return shapes;
}

namespace {

// For a checkpoint that fits.
Eigen::VectorXd parameters_of(const Model& model, const io::TensorFile& checkpoint) {
  Eigen::VectorXd theta(model.num_parameters());
  for (const ParameterBlock& block : model.parameters) {
    const std::vector<double> values = checkpoint.read(block.name);
    theta.segment(block.offset, block.size) =
        Eigen::Map<const Eigen::VectorXd>(values.data(), block.size);
  }
  return theta;
}

}  // namespace

std::string sha256_of(std::span<const ModelFile> files) {
  if (files.size() < 2) return files.empty() ? std::string() : files.front().sha256;
  std::string digests;
  for (const ModelFile& file : files) digests += file.sha256;
  return io::sha256_of_text(digests);
}

Model build_model(const ProblemFile& problem,
                  const TensorShapes& data,
                  const TensorShapes& checkpoint) {
  const ModelKind* kind = find_model_kind(problem.model_kind);
  if (kind == nullptr) {
    throw PreconditionError("Problem: unknown model kind '" + problem.model_kind + "'");
  }
  return detail::at_place(problem.model_place, [&] {
    Model model = kind->build({problem.model, data, problem.path.parent_path()}, checkpoint);
    if (model.graph == nullptr) {
      throw PreconditionError(
          fmt::format("model kind '{}' has built a model without a graph", kind->name));
    }
    return model;
  });
}

Eigen::VectorXd read_parameters(const Model& model, const io::TensorFile& wrapped) {
  const io::TensorFile checkpoint = io::unwrapped(wrapped);
  require_parameters(model, parameter_shapes_of(checkpoint));
  return parameters_of(model, checkpoint);
}

SampleTable read_samples(const Model& model, const io::TensorFile& data) {
  const TensorShapes shapes = shapes_of(data);
  return make_sample_table(
      model,
      require_arrays(model, shapes),
      [&](const std::string& name) { return data.read(name); },
      shapes.source);
}

namespace {

// A result must record all files on which it depends, so that a change is noticed.
void require_files(const ModelKind& kind, const ProblemFile& problem, const Model& model) {
  for (const std::filesystem::path& path :
       files_named(problem.model, kind.keys, problem.path.parent_path())) {
    if (std::ranges::find(model.files, path.string(), &ModelFile::path) != model.files.end())
      continue;
    throw PreconditionError(
        fmt::format("Problem: a model of kind '{}' does not say that it was made of {}, which its "
                    "settings name (Model::files)",
                    kind.name,
                    path.string()));
  }
}

// The first file that differs, for messages.
std::string changed_file(const std::vector<ModelFile>& before, const std::vector<ModelFile>& now) {
  const auto [old_file, new_file] = std::ranges::mismatch(before, now);
  return old_file != before.end() ? old_file->path : new_file->path;
}

// Whether points of one are points of the other, and so are samples' records.
bool have_same_layout(const Model& a, const Model& b) {
  return std::ranges::equal(a.parameters,
                            b.parameters,
                            [](const ParameterBlock& x, const ParameterBlock& y) {
                              return x.name == y.name && x.shape == y.shape && x.offset == y.offset;
                            }) &&
         std::ranges::equal(a.arrays, b.arrays);
}

std::string place_of_data(const ProblemFile& file) {
  return fmt::format("{}: [data] of kind '{}'", file.path.string(), file.sampler_kind);
}

}  // namespace

Problem::Problem(ProblemFile file,
                 const io::TensorFile& wrapped,
                 int num_threads,
                 const std::stop_token& stop,
                 std::shared_ptr<Team> team)
    : file_(std::move(file)), sized_by_(wrapped.where()) {
  const io::TensorFile checkpoint = io::unwrapped(wrapped);
  const ModelKind* kind = find_model_kind(file_.model_kind);
  if (kind == nullptr) {
    throw PreconditionError("Problem: unknown model kind '" + file_.model_kind + "'");
  }
  SampleTable samples = file_.has_sampler()
                            ? draw_data(checkpoint, Executor(num_threads, stop_requested_by(stop)))
                            : load_data(*kind, checkpoint, stop);
  require_files(*kind, file_, model_);
  const TensorShapes data = data_;
  if (model_.buffers.empty()) data_ = {};
  options_ = {.num_threads = num_threads, .stop = stop_requested_by(stop), .team = std::move(team)};
  at_first_ =
      objective_of(model_, std::make_shared<const SampleTable>(std::move(samples)), kTeamNumber);
  const auto remark = [this](std::string text) {
    if (!text.empty()) remarks_.push_back(std::move(text));
  };
  const GraphObjective& objective = *at_first_.objective;
  if (kind->checks_predictions) {
    const Eigen::VectorXd theta = parameters_of(model_, checkpoint);
    const auto at_own = [this](const auto& ask, auto none) {
      const CheckpointObjective own = own_objective();
      return own.objective ? ask(*own.objective, model_.own_parameters) : none;
    };
    remark(detail::check_predictions(objective, theta, data, sized_by_, [&] {
      return at_own(
          [](const GraphObjective& own, const Eigen::VectorXd& at) {
            return own.predictions(at, own.all_samples());
          },
          Eigen::MatrixXd());
    }));
    remark(detail::check_mean_loss(
        objective, theta, data, sized_by_, [&] { return at_own(detail::mean_loss, kNaN); }));
  }
  if (model_.predicts_log_probabilities) {
    remark(
        detail::check_log_probabilities(objective, parameters_of(model_, checkpoint), sized_by_));
  }
}

CheckpointObjective Problem::objective_of(Model model,
                                          std::shared_ptr<const SampleTable> samples,
                                          std::optional<std::int64_t> team_number) const {
  GraphObjective::Options options = options_;
  if (team_number) {
    options.team_number = *team_number;
  } else {
    options.team = nullptr;
  }
  CheckpointObjective found;
  found.objective = std::make_shared<const GraphObjective>(
      std::move(model), std::move(samples), std::move(options));
  if (sampler_ != nullptr) {
    found.fresh_samples =
        hesscope::fresh_samples(*found.objective, *sampler_, place_of_data(file_));
  }
  return found;
}

CheckpointObjective Problem::objective_at(const io::TensorFile& checkpoint) const {
  return objective_at(read_parameters(checkpoint), read_buffers(checkpoint).get());
}

CheckpointObjective Problem::objective_at(const Eigen::VectorXd& theta,
                                          const CheckpointBuffers* buffers,
                                          std::optional<std::int64_t> team_number) const {
  if (buffers == nullptr) return at_first_;
  Model model = build_model(file_, data_, as_checkpoint(model_, theta, *buffers));
  if (model.files != model_.files) {
    throw InputError(fmt::format("{}: has changed since the run began; start again",
                                 changed_file(model_.files, model.files)));
  }
  if (!have_same_layout(model, model_)) {
    throw PreconditionError(fmt::format(
        "Problem: with the buffers of {}, kind '{}' builds a model of other parameters or arrays",
        buffers->source,
        file_.model_kind));
  }
  if (have_equal_buffers(model, model_)) return at_first_;
  return objective_of(std::move(model), at_first_.objective->shared_samples(), team_number);
}

std::shared_ptr<const CheckpointBuffers> Problem::read_buffers(
    const io::TensorFile& wrapped) const {
  return buffers_of(model_, io::unwrapped(wrapped));
}

CheckpointObjective Problem::own_objective() const {
  if (model_.own_parameters.size() == 0) return {};
  const CheckpointBuffers own{.source = model_.files.front().path, .format = {}, .values = {}};
  return objective_at(model_.own_parameters, model_.buffers.empty() ? nullptr : &own);
}

SampleTable Problem::load_data(const ModelKind& kind,
                               const io::TensorFile& checkpoint,
                               const std::stop_token& stop) {
  const auto require_known = [&](std::span<const std::string> names) {
    detail::require_known_arrays(file_.data_arrays, file_.model_kind, names);
  };
  if (!kind.arrays.empty()) require_known(kind.arrays);
  const io::TensorFile data = detail::open_data(file_, stop);
  data_ = shapes_of(data);
  try {
    model_ = detail::fitted_or_advised(file_, data_, checkpoint);
    require_arrays(model_, data_);
  } catch (const InputError& error) {
    const std::string suggested = detail::arrays_that_fit(kind, file_, checkpoint, data_);
    if (suggested.empty()) throw;
    throw InputError(fmt::format(
        "{}. The problem file can say which they are: [data.arrays] {}", error.what(), suggested));
  }
  require_known(names_of(model_.arrays));
  SampleTable samples = read_samples(model_, data);
  remarks_ = model_.remarks;
  std::ranges::copy(detail::remarks_on_data(model_, data, samples), std::back_inserter(remarks_));
  data_sha256_ = io::sha256_of(data);
  return samples;
}

SampleTable Problem::draw_data(const io::TensorFile& checkpoint, const Executor& executor) {
  const std::string place = place_of_data(file_);
  sampler_ = make_sampler(file_.sampler_kind, file_.data, file_.path.parent_path());
  const Eigen::Index num_samples = file_.data.integer("samples");
  data_ = shapes_of(*sampler_, num_samples, place);
  model_ = detail::fitted_or_advised(file_, data_, checkpoint);
  SampleTable samples = SampledRecords(model_, *sampler_, place)
                            .table(static_cast<std::uint64_t>(file_.data.integer("seed")),
                                   Stream::kEvaluation,
                                   num_samples,
                                   executor);
  data_sha256_ = io::sha256_of_numbers({samples.data(), static_cast<std::size_t>(samples.size())});
  return samples;
}

std::string Problem::model_sha256() const { return sha256_of(model_.files); }

Eigen::VectorXd Problem::read_parameters(const io::TensorFile& wrapped) const {
  const io::TensorFile checkpoint = io::unwrapped(wrapped);
  try {
    require_parameters(model_, parameter_shapes_of(checkpoint));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} (sizes were taken from {})", error.what(), sized_by_));
  }
  return parameters_of(model_, checkpoint);
}

OptimizerState Problem::read_optimizer_state(const io::TensorFile& checkpoint) const {
  OptimizerState state = detail::read_optimizer_state(model_, io::unwrapped(checkpoint));
  const bool is_refused = !state.obstacle.empty() && state.blocks.empty();
  if (is_refused && state.num_not_given > 0 && may_have_more_parameters()) {
    state.obstacle +=
        ": name what is not trained (a buffer that the model computes with) by 'frozen' in [model]";
  }
  return state;
}

bool Problem::may_have_more_parameters() const {
  return find_model_kind(file_.model_kind)->has_own_parameters && !file_.model.has("parameters");
}

std::vector<std::string> Problem::remarks_on(const io::TensorFile& checkpoint) const {
  return detail::remarks_on_parameters(model_, io::unwrapped(checkpoint));
}

std::vector<std::string> Problem::remarks_on(std::span<const Eigen::VectorXd> points) const {
  if (!find_model_kind(file_.model_kind)->has_own_parameters) return {};
  const std::vector<std::string> separate =
      file_.model.has("separate") ? file_.model.texts("separate") : std::vector<std::string>();
  std::vector<std::string> remarks = detail::remarks_on_equal_parameters(model_, points, separate);
  if (may_have_more_parameters()) {
    std::ranges::copy(detail::remarks_on_unmoved_parameters(model_, points),
                      std::back_inserter(remarks));
  }
  for (std::string& remark : remarks) remark.insert(0, file_.path.string() + ": ");
  return remarks;
}

std::vector<std::string> Problem::remarks_on(const OptimizerState& optimizer) const {
  if (optimizer.num_not_given == 0 || !may_have_more_parameters()) return {};
  return {detail::remark_on_parameters_not_given(model_, optimizer)};
}

}  // namespace hesscope
