// SPDX-License-Identifier: BSD-3-Clause
//
// A graph from ONNX on samples in memory, trained, and a checkpoint with other names. Takes
// hesscope's folder data/digits.
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/hesscope.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/optim/batches.h>
#include <hesscope/optim/training_run.h>
#include <hesscope/optim/update_rule_registry.h>
#include <hesscope/problem/problem.h>
#include <hesscope/tensors/checkpoint_file.h>
#include <hesscope/tensors/tensor_file.h>
#include <hesscope/tensors/tensor_map.h>

// [objective]
struct Digits {
  std::vector<double> images;  // samples x 1 x 8 x 8
  std::vector<double> labels;  // 0 ... 9
};

// What a problem file would say, without one.
hesscope::GraphObjective objective_of(const std::filesystem::path& onnx, const Digits& digits) {
  const hesscope::ModelKind& kind = *hesscope::find_model_kind("onnx");
  const auto settings = hesscope::Settings::checked(
      {{"file", onnx.string()}, {"loss", "cross-entropy"}}, kind.keys_with_sizes(), "the model");
  const auto n = std::ssize(digits.labels);
  const hesscope::TensorShapes shapes{"memory", {{"image", {n, 1, 8, 8}}, {"target", {n}}}};
  hesscope::Model model = kind.create({settings, shapes});
  hesscope::SampleTable samples = hesscope::make_sample_table(
      model,
      n,
      [&](const std::string& name) { return name == "target" ? digits.labels : digits.images; },
      "memory");
  return {std::move(model), std::move(samples)};
}

// [objective]

// Writes the parameters with the names that another program gives them.
void write_theirs(const std::string& path,
                  const hesscope::Model& model,
                  const Eigen::VectorXd& theta) {
  std::vector<hesscope::io::CheckpointTensor> tensors;
  for (const hesscope::ParameterBlock& block : model.parameters) {
    tensors.push_back({"net." + block.name,
                       block.shape,
                       {theta.data() + block.offset, static_cast<std::size_t>(block.size)}});
  }
  hesscope::io::write_checkpoint(path, tensors, hesscope::io::Existing::kReplace);
}

int main(int argc, char** argv) {
  namespace io = hesscope::io;
  if (argc != 2) {
    std::cerr << "own_training takes hesscope's folder data/digits\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const io::TensorFile data = io::open_tensor_file(folder / "eval.npz");
  Digits digits{data.read("image"), data.read("target")};
  digits.labels.resize(50);
  digits.images.resize(50 * 64);

  // [train]
  const hesscope::GraphObjective objective = objective_of(folder / "model.onnx", digits);
  const auto batches = hesscope::full_batches(objective);
  hesscope::TrainingRun run(
      *batches,
      hesscope::make_update_rule("adam", {{"beta2", 0.99}}, objective.parameter_blocks()),
      objective.model().own_parameters,  // those in the file
      {.learning_rate = 1e-3});
  const double before = objective.value(run.parameters());
  while (run.num_steps() < 20 && run.step() == hesscope::Status::kOk) {
  }
  std::cout << "loss " << before << " -> " << objective.value(run.parameters()) << '\n';
  // [train]

  write_theirs("theirs.h5", objective.model(), run.parameters());
  // [map]
  io::TensorMap map;                               // read_tensor_map() reads one from a file
  map.rules = {{.name = "*", .source = "net.*"}};  // ours, theirs
  const io::TensorFile theirs = io::mapped(io::open_tensor_file("theirs.h5"), map);
  const Eigen::VectorXd theta = hesscope::read_parameters(objective.model(), theirs);
  const Eigen::MatrixXd H = objective.hessian(theta);
  // [map]

  const bool is_lower = objective.value(theta) < before && theta == run.parameters();
  return is_lower && H.rows() == theta.size() ? 0 : 1;
}
