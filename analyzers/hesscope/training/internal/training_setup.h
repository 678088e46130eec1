// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by all runs of an experiment.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/analysis/internal/chosen_analyzers.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/optim/training_run.h>
#include <hesscope/problem/experiment_file.h>
#include <hesscope/sampling/sampler.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

/// An analyzer that looks at every row of the history.
using Monitor = ChosenAnalyzer;

/// The samples of every step; null if every step draws new ones.
using TrainingSet = std::shared_ptr<const SampleTable>;

/// An experiment with its model, its data and its evaluation samples. Safe for concurrent use.
class TrainingSetup {
 public:
  /// @throws ConfigError, InputError.
  TrainingSetup(ExperimentFile experiment, int num_threads, const std::stop_token& stop);

  const ExperimentFile& experiment() const { return experiment_; }

  /// The objective on the evaluation samples.
  const GraphObjective& objective() const { return *objective_; }

  /// An objective with the model of the training samples: another one than objective() if they are
  /// in a file of their own, because a loss may be divided by the weights of its targets. Its
  /// threads serve all runs.
  const GraphObjective& training() const { return training_ ? *training_ : *objective_; }

  /// For each parameter block.
  const std::vector<bool>& trained() const { return trained_; }

  /// Shared by all seeds, or drawn for this one.
  TrainingSet training_set(std::uint64_t seed) const;

  /// @param fixed  training_set(seed).
  /// @param batch  samples of a batch; 0 = all.
  std::unique_ptr<BatchLoss> losses(std::uint64_t seed,
                                    TrainingSet fixed,
                                    std::int64_t batch) const;

  /// Whether every batch is the whole training set.
  bool is_full_batch() const;

  /// training_remarks() of the experiment, or of one run of it.
  std::vector<std::string> remarks(const std::string& run) const;

  const std::vector<Monitor>& monitors() const { return monitors_; }

  /// The objective on the samples of the monitors: the training set, or a copy of objective() if
  /// every step draws new samples.
  /// @param fixed  training_set() of the seed.
  std::unique_ptr<GraphObjective> monitored(const TrainingSet& fixed) const;

  /// The parameters that a seed starts from.
  /// @throws InputError for a checkpoint that does not fit or is not finite.
  Eigen::VectorXd start_of(std::uint64_t seed) const;

  TrainingRun make_run(const ExperimentRun& run, Eigen::VectorXd start, BatchLoss& losses) const;

  /// Everything on which the files of one run from one seed depend.
  io::RunConfiguration configuration(const ExperimentRun& run, std::uint64_t seed) const;

 private:
  struct StoredStart {
    Eigen::VectorXd theta;
    std::string sha256;  // of the bytes that it was read from
  };

  // 0 if every batch is drawn anew.
  std::int64_t num_training_samples() const;

  /// For the names of the model's arrays, if they are known yet. @throws ConfigError.
  void require_known_arrays(std::span<const std::string> names) const;
  /// @throws ConfigError.
  void check_monitors() const;

  Model make_model(const ModelSources& sources) const;

  /// The model for data with these shapes. @throws ConfigError with the place in the experiment
  /// file, InputError.
  Model made_for(const TensorShapes& shapes) const;

  /// The model of the evaluation samples, if it may differ from that of the training samples.
  /// @throws InputError if it does not have the same parameters and arrays.
  Model evaluated_model(const Model& trained, const TensorShapes& shapes) const;

  /// The checkpoint that the experiment starts from; read when it is first asked for, and cached.
  const StoredStart& stored_start(std::uint64_t seed) const;

  ExperimentFile experiment_;
  std::stop_token stop_;
  std::vector<Monitor> monitors_;
  std::unique_ptr<Sampler> sampler_;  // of [data]; null for a file
  TrainingSet fixed_;                 // shared by all seeds; null if there is none
  std::string data_sha256_;           // of files, if any
  std::string evaluation_sha256_;
  std::unique_ptr<GraphObjective> objective_;
  std::unique_ptr<GraphObjective> training_;  // null if it is objective_
  std::vector<bool> trained_;
  std::unique_ptr<std::mutex> starts_mutex_ = std::make_unique<std::mutex>();
  mutable std::map<std::uint64_t, StoredStart> starts_;  // by seed
};

}  // namespace hesscope::detail
