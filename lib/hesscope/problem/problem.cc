// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/objective/sampled_records.h>
#include <hesscope/problem/problem.h>
#include <hesscope/sampling/sampler_registry.h>

namespace hesscope {

TensorShapes shapes_of(const io::TensorFile& file) {
  TensorShapes shapes;
  shapes.source = file.path().string();
  for (const io::TensorInfo& tensor : file.tensors()) shapes.shapes[tensor.name] = tensor.shape;
  return shapes;
}

namespace {

const std::string kOptimizer = "optimizer.";
const std::string kSecondMoment = "optimizer.exp_avg_sq.";
const std::string kStep = "optimizer.step";

}  // namespace

TensorShapes parameter_shapes_of(const io::TensorFile& checkpoint) {
  TensorShapes shapes = shapes_of(checkpoint);
  std::erase_if(shapes.shapes,
                [](const auto& tensor) { return tensor.first.starts_with(kOptimizer); });
  return shapes;
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

std::string place_of_data(const ProblemFile& file) {
  return fmt::format("{}: [data] of kind '{}'", file.path.string(), file.sampler_kind);
}

}  // namespace

Problem::Problem(ProblemFile file, const io::TensorFile& checkpoint, int num_threads)
    : file_(std::move(file)), sized_by_(checkpoint.path()) {
  const ModelKind* kind = find_model_kind(file_.model_kind);
  if (kind == nullptr) {
    throw PreconditionError("Problem: unknown model kind '" + file_.model_kind + "'");
  }
  const TensorShapes shapes = parameter_shapes_of(checkpoint);
  SampleTable samples =
      file_.has_sampler() ? draw_data(*kind, shapes, num_threads) : load_data(*kind, shapes);
  objective_ = std::make_unique<GraphObjective>(
      model_, std::move(samples), GraphObjective::Options{.num_threads = num_threads});
  if (sampler_ != nullptr) {
    fresh_samples_ = hesscope::fresh_samples(*objective_, *sampler_, place_of_data(file_));
  }
}

SampleTable Problem::load_data(const ModelKind& kind, const TensorShapes& checkpoint) {
  const io::TensorFile data = io::open_tensor_file(file_.data_path);
  model_ = kind.build(file_.model, checkpoint, shapes_of(data));
  require_parameters(model_, checkpoint);
  SampleTable samples = read_samples(model_, data);
  data_sha256_ = io::sha256_of_file(file_.data_path);
  return samples;
}

SampleTable Problem::draw_data(const ModelKind& kind,
                               const TensorShapes& checkpoint,
                               int num_threads) {
  const std::string place = place_of_data(file_);
  try {
    sampler_ = find_sampler_kind(file_.sampler_kind)->create(file_.data, file_.path.parent_path());
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: {}", place, error.what()));
  }
  const Eigen::Index num_samples = file_.data.integer("samples");
  model_ = kind.build(file_.model, checkpoint, shapes_of(*sampler_, num_samples, place));
  require_parameters(model_, checkpoint);
  SampleTable samples = SampledRecords(model_, *sampler_, place)
                            .table(static_cast<std::uint64_t>(file_.data.integer("seed")),
                                   Stream::kEvaluation,
                                   num_samples,
                                   Executor(num_threads));
  data_sha256_ = io::sha256_of_numbers({samples.data(), static_cast<std::size_t>(samples.size())});
  return samples;
}

Eigen::VectorXd Problem::read_parameters(const io::TensorFile& checkpoint) const {
  try {
    require_parameters(model_, parameter_shapes_of(checkpoint));
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("{} (sizes were taken from {})", error.what(), sized_by_.string()));
  }
  Eigen::VectorXd theta(model_.num_parameters());
  for (const ParameterBlock& block : model_.parameters) {
    const std::vector<double> values = checkpoint.read(block.name);
    theta.segment(block.offset, block.size) =
        Eigen::Map<const Eigen::VectorXd>(values.data(), block.size);
  }
  return theta;
}

std::optional<AdamState> Problem::read_adam_state(const io::TensorFile& checkpoint) const {
  const auto tensors = checkpoint.tensors();
  const bool has_moments = std::any_of(tensors.begin(), tensors.end(), [](const auto& tensor) {
    return tensor.name.starts_with(kSecondMoment);
  });
  if (!has_moments) return std::nullopt;
  const TensorShapes shapes = shapes_of(checkpoint);
  AdamState state;
  state.second_moments.resize(model_.num_parameters());
  for (const ParameterBlock& block : model_.parameters) {
    const std::string name = kSecondMoment + block.name;
    const auto& shape = shapes.at(name);
    if (shape != block.shape) {
      throw InputError(fmt::format("{}: tensor '{}': expected shape {}, found {}",
                                   shapes.source,
                                   name,
                                   io::shape_text(block.shape),
                                   io::shape_text(shape)));
    }
    const std::vector<double> values = checkpoint.read(name);
    const Eigen::Map<const Eigen::VectorXd> moments(values.data(), block.size);
    if (!moments.allFinite() || !(moments.minCoeff() >= 0)) {
      throw InputError(fmt::format(
          "{}: tensor '{}' holds averages of squares, but a value is negative or not finite",
          shapes.source,
          name));
    }
    state.second_moments.segment(block.offset, block.size) = moments;
  }
  if (checkpoint.find(kStep) != nullptr) {
    const std::vector<double> step = checkpoint.read(kStep);
    if (step.size() != 1 || !(step[0] >= 1 && step[0] <= 1e15) || step[0] != std::floor(step[0])) {
      throw InputError(fmt::format(
          "{}: tensor '{}' must be one whole number, at least 1", shapes.source, kStep));
    }
    state.step = static_cast<std::int64_t>(step[0]);
  }
  return state;
}

}  // namespace hesscope
