// SPDX-License-Identifier: BSD-3-Clause
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/problem/problem.h>

namespace hesscope {

TensorShapes shapes_of(const io::TensorFile& file) {
  TensorShapes shapes;
  shapes.source = file.path().string();
  for (const io::TensorInfo& tensor : file.tensors()) shapes.shapes[tensor.name] = tensor.shape;
  return shapes;
}

Problem::Problem(ProblemFile file, const io::TensorFile& checkpoint, int num_threads)
    : file_(std::move(file)), sized_by_(checkpoint.path()) {
  const ModelKind* kind = find_model_kind(file_.model_kind);
  if (kind == nullptr) {
    throw PreconditionError("Problem: unknown model kind '" + file_.model_kind + "'");
  }
  const io::TensorFile data = io::open_tensor_file(file_.data_path);
  const TensorShapes checkpoint_shapes = shapes_of(checkpoint);
  const TensorShapes data_shapes = shapes_of(data);
  model_ = kind->build(file_.model, checkpoint_shapes, data_shapes);
  require_parameters(model_, checkpoint_shapes);
  const std::int64_t num_samples = require_arrays(model_, data_shapes);
  data_sha256_ = io::sha256_of_file(file_.data_path);
  SampleTable samples = make_sample_table(
      model_,
      num_samples,
      [&](const std::string& name) { return data.read(name); },
      data_shapes.source);
  objective_ = std::make_unique<GraphObjective>(
      model_, std::move(samples), GraphObjective::Options{.num_threads = num_threads});
}

Eigen::VectorXd Problem::read_parameters(const io::TensorFile& checkpoint) const {
  try {
    require_parameters(model_, shapes_of(checkpoint));
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

}  // namespace hesscope
