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

/// No part of a checkpoint fits the problem's model; fit_checkpoint() says which of its tensors do.
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

/// The same without the tensors of an optimiser, named optimizer.*; is_training_number() says which
/// are training numbers.
/// @throws InputError naming the first unreadable tensor that is not a text: it may be a parameter,
///         and no parameter may be skipped.
TensorShapes parameter_shapes_of(const io::TensorFile& checkpoint);

/// The model that ModelKind::build makes for a problem's [model]. @throws as that function;
/// ConfigError with the place in the problem file.
Model build_model(const ProblemFile& problem,
                  const TensorShapes& data,
                  const TensorShapes& checkpoint);

/// A checkpoint's parameters as a flat vector; the prefix that a wrapper adds to names
/// (io::wrapper_of()) is removed. @throws InputError if the checkpoint does not fit the model.
Eigen::VectorXd read_parameters(const Model& model, const io::TensorFile& checkpoint);

/// SHA-256 of a single file, or of the concatenated digests of several; empty if there are none.
std::string sha256_of(std::span<const ModelFile> files);

/// The samples of a data file as records of a model. @throws InputError as require_arrays() and
/// make_sample_table().
SampleTable read_samples(const Model& model, const io::TensorFile& data);

/// The loss at one checkpoint.
struct CheckpointObjective {
  std::shared_ptr<const GraphObjective> objective;    ///< on the problem's samples
  std::shared_ptr<const FreshSamples> fresh_samples;  ///< if data are drawn; else nullptr
};

/// A problem with its data loaded and its model sized by a first checkpoint.
class Problem {
 public:
  /// Builds the model that fits `checkpoint` and the data, and loads or draws the data. Here and
  /// below, the prefix that a wrapper adds to a checkpoint's names (io::wrapper_of()) is removed.
  /// @param num_threads  for the objective; 0 = one per core.
  /// @param stop         once it is requested, reading or drawing data and all computations of the
  ///                     objective soon throw Interrupted.
  /// @throws InputError naming file, tensor, expected and found shape if something does not fit,
  ///         and the keys (TensorFile::part) of those parts of the checkpoint that do fit;
  ///         ConfigError if the settings of a sampler contradict each other.
  /// @param team         ranks that share the objective's computations, under the number
  ///                     kTeamNumber; null = none.
  Problem(ProblemFile file,
          const io::TensorFile& checkpoint,
          int num_threads = 0,
          const std::stop_token& stop = {},
          std::shared_ptr<Team> team = {});

  /// The number of objective() in a team (GraphObjective::Options::team_number).
  static constexpr std::int64_t kTeamNumber = -1;

  const ProblemFile& file() const { return file_; }

  const Model& model() const { return model_; }

  /// With the first checkpoint's buffers.
  const GraphObjective& objective() const { return *at_first_.objective; }

  /// The loss at a checkpoint whose buffers may differ: objective() if the model has none or they
  /// are equal. Otherwise the model is built again with the checkpoint's values, on the same
  /// samples. Not thread-safe.
  /// @throws InputError if the checkpoint does not fit, or a file from which the model was made has
  ///         changed since.
  /// @cost   as a part of the constructor; memory for another graph, but not for other samples.
  CheckpointObjective objective_at(const io::TensorFile& checkpoint) const;

  /// The same for the results of read_parameters() and read_buffers().
  /// @param team_number  for an objective other than objective(); without it, no team shares its
  ///                     work.
  CheckpointObjective objective_at(const Eigen::VectorXd& theta,
                                   const CheckpointBuffers* buffers,
                                   std::optional<std::int64_t> team_number = {}) const;

  /// The checkpoint's buffers; nullptr if objective() is its objective.
  std::shared_ptr<const CheckpointBuffers> read_buffers(const io::TensorFile& checkpoint) const;

  /// The data, as records of the model.
  const SampleTable& samples() const { return at_first_.objective->samples(); }

  /// SHA-256 of the data file; for drawn data, that of the records as the model sees them, one
  /// after the other, as little-endian 64-bit floats.
  const std::string& data_sha256() const { return data_sha256_; }

  /// sha256_of() the files from which the model was made, other than checkpoint and data.
  std::string model_sha256() const;

  /// Further samples from the distribution of the data; nullptr for a data file.
  const FreshSamples* fresh_samples() const { return at_first_.fresh_samples.get(); }

  /// Suspicious properties of data that do fit (whole numbers as inputs, fractions as classes): one
  /// sentence each, naming the file.
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// The same for a checkpoint that fits (weights that are whole numbers, tied weights), without
  /// naming it.
  std::vector<std::string> remarks_on(const io::TensorFile& checkpoint) const;

  /// The same for the parameters of all checkpoints together: tensors of an imported model that may
  /// be a single one although the model's file gives them separate names, or that may not be
  /// parameters.
  std::vector<std::string> remarks_on(std::span<const Eigen::VectorXd> points) const;

  /// The same for a checkpoint's optimiser: parameters of an imported model that the optimiser did
  /// not receive may not be parameters.
  std::vector<std::string> remarks_on(const OptimizerState& optimizer) const;

  /// The checkpoint's parameters as a flat vector. @throws InputError if it does not fit the model.
  Eigen::VectorXd read_parameters(const io::TensorFile& checkpoint) const;

  /// The optimiser's state in the file to which the checkpoint belongs, in any of the forms of
  /// find_stored_optimizers(): settings, second moments and steps, assigned to the parameters by
  /// name if names are stored, else in the order of the checkpoint as far as shapes agree
  /// (detail::order_parameters). Kind kNone if there is no such state. A state that cannot be used
  /// has an obstacle; nothing is guessed.
  /// @throws InputError for tensors that cannot be read.
  OptimizerState read_optimizer_state(const io::TensorFile& checkpoint) const;

 private:
  // Whether the parameters may include tensors that are not: the model kind treats every tensor
  // that the model uses as a parameter, and the problem does not say which ones are.
  bool may_have_more_parameters() const;
  // At the parameters in the model's own file; without an objective if there are none.
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
  TensorShapes data_;  // from which a model with buffers is built again
  GraphObjective::Options options_;
  std::string data_sha256_;
  std::vector<std::string> remarks_;  // on the data
};

}  // namespace hesscope
