// SPDX-License-Identifier: BSD-3-Clause
//
// From files to an Objective: a problem file, its data, and the checkpoints that fit it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <Eigen/Core>

#include <hesscope/io/tensor_file.h>
#include <hesscope/models/model.h>
#include <hesscope/objective/objective.h>
#include <hesscope/problem/adam_state.h>
#include <hesscope/problem/problem_file.h>

namespace hesscope {

/// Names and shapes of a file's tensors.
TensorShapes shapes_of(const io::TensorFile& file);

/// The same without what belongs to an optimiser: tensors named optimizer.*.
TensorShapes parameter_shapes_of(const io::TensorFile& checkpoint);

/// A problem with its data loaded, its model sized by a first checkpoint.
class Problem {
 public:
  /// Builds the model that fits `checkpoint` and the data file, and loads the data.
  /// @param num_threads  for the objective; 0 = one per core.
  /// @throws InputError naming file, tensor, expected and found shape where something does not fit.
  Problem(ProblemFile file, const io::TensorFile& checkpoint, int num_threads = 0);

  const ProblemFile& file() const { return file_; }

  const Model& model() const { return model_; }

  const Objective& objective() const { return *objective_; }

  /// SHA-256 of the data file.
  const std::string& data_sha256() const { return data_sha256_; }

  /// The checkpoint's parameters as a flat vector. @throws InputError if it does not fit the model.
  Eigen::VectorXd read_parameters(const io::TensorFile& checkpoint) const;

  /// Adam's second moments, where the checkpoint holds them: `optimizer.exp_avg_sq.NAME` for every
  /// parameter NAME, of its shape, and `optimizer.step`, a scalar. Nothing without the former.
  /// @throws InputError if one is missing, does not fit, or is negative or not finite.
  std::optional<AdamState> read_adam_state(const io::TensorFile& checkpoint) const;

 private:
  ProblemFile file_;
  std::filesystem::path sized_by_;  // the first checkpoint
  Model model_;
  std::unique_ptr<Objective> objective_;
  std::string data_sha256_;
};

}  // namespace hesscope
