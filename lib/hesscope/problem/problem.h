// SPDX-License-Identifier: BSD-3-Clause
//
// From files to an Objective: a problem file, its data, and the checkpoints that fit it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>
#include <hesscope/models/model.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/models/tensor_shapes.h>
#include <hesscope/objective/fresh_samples.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/sample_table.h>
#include <hesscope/problem/checkpoint_buffers.h>
#include <hesscope/problem/optimizer_state.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/sampling/sampler.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope {

/// Names and shapes of a file's tensors.
TensorShapes shapes_of(const io::TensorFile& file);

/// No part of a checkpoint fits the problem's model; fit_checkpoint() says what of it does.
class MisfitError : public InputError {
 public:
  MisfitError(const std::string& message,
              std::filesystem::path checkpoint,
              std::filesystem::path problem)
      : InputError(message), checkpoint_(std::move(checkpoint)), problem_(std::move(problem)) {}

  const std::filesystem::path& checkpoint() const { return checkpoint_; }

  const std::filesystem::path& problem() const { return problem_; }

 private:
  std::filesystem::path checkpoint_;
  std::filesystem::path problem_;
};

/// The same without what belongs to an optimiser, tensors named optimizer.*, and without
/// is_training_number().
/// @throws InputError naming the first tensor that is unreadable other than as text: it may be a
///         parameter, of which none may be passed over.
TensorShapes parameter_shapes_of(const io::TensorFile& checkpoint);

/// What ModelKind::build makes of a problem's [model]. @throws as that; ConfigError with the place
/// in the problem file.
Model build_model(const ProblemFile& problem,
                  const TensorShapes& data,
                  const TensorShapes& checkpoint);

/// A checkpoint's parameters as a flat vector; names that a wrapper begins (io::wrapper_of()) are
/// read without it. @throws InputError if it does not fit the model.
Eigen::VectorXd read_parameters(const Model& model, const io::TensorFile& checkpoint);

/// SHA-256 of the one file, or of the digests of several one after the other; empty of none.
std::string sha256_of(std::span<const ModelFile> files);

/// A data file's samples as the records of a model. @throws InputError as require_arrays() and
/// make_sample_table().
SampleTable read_samples(const Model& model, const io::TensorFile& data);

/// The loss at one checkpoint.
struct CheckpointObjective {
  std::shared_ptr<const GraphObjective> objective;    ///< on the problem's samples
  std::shared_ptr<const FreshSamples> fresh_samples;  ///< where data are drawn; else nullptr
};

/// A problem with its data loaded, its model sized by a first checkpoint.
class Problem {
 public:
  /// Builds the model that fits `checkpoint` and the data, and loads or draws the data.
  /// Names of a checkpoint that a wrapper begins (io::wrapper_of()) are read without it, here and
  /// below.
  /// @param num_threads  for the objective; 0 = one per core.
  /// @param stop         once it is requested, reading or drawing data and whatever the objective
  ///                     computes end soon, by Interrupted.
  /// @throws InputError naming file, tensor, expected and found shape where something does not fit,
  ///         and the keys (TensorFile::part) of parts of the checkpoint that do; ConfigError where
  ///         the settings of a sampler contradict each other.
  /// @param team         of ranks that share what the objective computes, as number
  ///                     kTeamNumber; null = none.
  Problem(ProblemFile file,
          const io::TensorFile& checkpoint,
          int num_threads = 0,
          const std::stop_token& stop = {},
          std::shared_ptr<Team> team = {});

  /// What objective() is called in a team (GraphObjective::Options::team_number).
  static constexpr std::int64_t kTeamNumber = -1;

  const ProblemFile& file() const { return file_; }

  const Model& model() const { return model_; }

  /// With the first checkpoint's buffers.
  const GraphObjective& objective() const { return *at_first_.objective; }

  /// The loss at a checkpoint whose buffers may be others: objective() where the model has none or
  /// they are equal. Else the model is built once more, with the checkpoint's values, on the same
  /// samples. Not for several threads at once.
  /// @throws InputError if the checkpoint does not fit, or a file that the model was made of has
  ///         changed since.
  /// @cost   as a part of the constructor; memory of another graph, not of other samples.
  CheckpointObjective objective_at(const io::TensorFile& checkpoint) const;

  /// The same of what was read of it by read_parameters() and read_buffers().
  /// @param team_number  of an objective that is not objective(); without it no team shares its
  ///                     work.
  CheckpointObjective objective_at(const Eigen::VectorXd& theta,
                                   const CheckpointBuffers* buffers,
                                   std::optional<std::int64_t> team_number = {}) const;

  /// The checkpoint's buffers; nullptr where objective() is its objective.
  std::shared_ptr<const CheckpointBuffers> read_buffers(const io::TensorFile& checkpoint) const;

  /// The data, as records of the model.
  const SampleTable& samples() const { return at_first_.objective->samples(); }

  /// SHA-256 of the data file; of data that are drawn, that of the records as the model sees them,
  /// one after the other, in 64-bit floats, low bytes first.
  const std::string& data_sha256() const { return data_sha256_; }

  /// sha256_of() the files that the model was made of besides checkpoint and data.
  std::string model_sha256() const;

  /// More samples of the distribution that the data are drawn from; nullptr for a data file.
  const FreshSamples* fresh_samples() const { return at_first_.fresh_samples.get(); }

  /// What is odd about the data although they fit (whole numbers for inputs, fractions for
  /// classes): a sentence each, naming the file.
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// The same of a checkpoint that fits (weights that are whole numbers, tied weights), without
  /// naming it.
  std::vector<std::string> remarks_on(const io::TensorFile& checkpoint) const;

  /// The same of the parameters of all checkpoints together: tensors of an imported model that may
  /// be one, though the file of the model names them apart, or may be no parameters.
  std::vector<std::string> remarks_on(std::span<const Eigen::VectorXd> points) const;

  /// The same of what a checkpoint holds of its optimiser: parameters of an imported model that
  /// it was not given may be none.
  std::vector<std::string> remarks_on(const OptimizerState& optimizer) const;

  /// The checkpoint's parameters as a flat vector. @throws InputError if it does not fit the model.
  Eigen::VectorXd read_parameters(const io::TensorFile& checkpoint) const;

  /// What the file that the checkpoint is a part of holds of its optimiser, in any of the forms of
  /// find_stored_optimizers(): settings, second moments and steps, assigned to the parameters by
  /// their names where names are stored, else in the order of the checkpoint as far as shapes agree
  /// (detail::order_parameters). Kind kNone where there is nothing of the kind. What is there but
  /// cannot be used has an obstacle; nothing is taken for something else.
  /// @throws InputError for tensors that cannot be read.
  OptimizerState read_optimizer_state(const io::TensorFile& checkpoint) const;

 private:
  // Whether tensors that are none may be among the parameters: the kind takes for one whatever the
  // model computes with, and the problem does not say which are.
  bool may_have_more_parameters() const;
  // At the parameters of the model's own file; without an objective if it has none.
  CheckpointObjective own_objective() const;
  SampleTable load_data(const ModelKind& kind,
                        const io::TensorFile& checkpoint,
                        const std::stop_token& stop);
  CheckpointObjective objective_of(Model model,
                                   std::shared_ptr<const SampleTable> samples,
                                   std::optional<std::int64_t> team_number) const;
  SampleTable draw_data(const io::TensorFile& checkpoint, const Executor& executor);

  ProblemFile file_;
  std::string sized_by_;  // the first checkpoint
  Model model_;
  std::unique_ptr<const Sampler> sampler_;  // of data that are drawn
  CheckpointObjective at_first_;
  TensorShapes data_;  // of which a model with buffers is built again
  GraphObjective::Options options_;
  std::string data_sha256_;
  std::vector<std::string> remarks_;  // on the data
};

}  // namespace hesscope
