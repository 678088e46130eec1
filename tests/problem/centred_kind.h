// SPDX-License-Identifier: BSD-3-Clause
//
// A kind of model with a buffer, as batch normalisation has them.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <hesscope/models/model_registry.h>
#include <hesscope/tensors/checkpoint_file.h>

#include "support/files.h"

namespace hesscope::test {

/// (w'(x - m) - y)^2 with m the checkpoint's "norm.running_mean", or 0 where it has none.
inline ModelKind centred_kind() {
  return {.name = "centred",
          .build = [](const ModelSources& sources, const TensorShapes& checkpoint) {
            const std::string name = "norm.running_mean";
            const auto& shape = checkpoint.at("weight", 1, "(inputs)");
            sources.data.at("inputs", 2, "(samples, inputs)");
            std::vector<double> mean(static_cast<std::size_t>(shape[0]));
            if (checkpoint.has(name)) mean = checkpoint.read(name);
            ModelBuilder b("centred");
            const Var w = b.parameter("weight", shape);
            const Var x = b.array("inputs", shape);
            const Var y = b.array("target", {});
            const Eigen::Map<const Eigen::VectorXd> m(mean.data(), shape[0]);
            const Var z = matmul_tn(w, x - b.constant(m));
            b.set_prediction(z);
            Model model = b.finish(square(z - y));
            model.buffers = {{name, shape, mean}};
            return model;
          }};
}

inline void register_centred_kind() {
  if (find_model_kind("centred") == nullptr) register_model_kind(centred_kind());
}

/// A problem of that kind with two samples, and checkpoints with the weights (1, 2).
class CentredFiles {
 public:
  CentredFiles() {
    register_centred_kind();
    const std::vector<double> inputs = {1, 0, 0, 3};
    const std::vector<double> target = {0, 1};
    io::write_checkpoint(folder_ / "data.h5",
                         {{{"inputs", {2, 2}, inputs}, {"target", {2}, target}}},
                         io::Existing::kReplace);
    std::ofstream(problem()) << "[model]\nkind = \"centred\"\n[data]\nfile = \"data.h5\"\n";
  }

  std::filesystem::path problem() const { return folder_ / "problem.toml"; }

  const ScratchFolder& folder() const { return folder_; }

  /// @param mean  empty = the checkpoint has no buffer.
  std::filesystem::path checkpoint(const std::string& name,
                                   const std::vector<double>& mean,
                                   const std::vector<double>& weight = {1, 2}) const {
    const std::vector<double> count = {7};
    std::vector<io::CheckpointTensor> tensors = {
        {"weight", {2}, weight}, {"norm.num_batches_tracked", {}, count, io::ElementType::kInt64}};
    if (!mean.empty()) tensors.push_back({"norm.running_mean", {2}, mean});
    io::write_checkpoint(folder_ / name, tensors, io::Existing::kReplace);
    return folder_ / name;
  }

  /// The loss at these weights: residuals w'(x - m) - y of the two samples.
  static double loss(const std::vector<double>& m, const std::vector<double>& w = {1, 2}) {
    const double first = w[0] * (1 - m[0]) - w[1] * m[1];
    const double second = -w[0] * m[0] + w[1] * (3 - m[1]) - 1;
    return (first * first + second * second) / 2;
  }

 private:
  ScratchFolder folder_;
};

}  // namespace hesscope::test
