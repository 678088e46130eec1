// SPDX-License-Identifier: BSD-3-Clause
//
// What all runs of an experiment share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
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

/// The samples that every step is made from; null where every step draws fresh ones.
using TrainingSet = std::shared_ptr<const SampleTable>;

/// An experiment with its model, its data and its evaluation samples. Safe for concurrent use.
class TrainingSetup {
 public:
  /// @throws ConfigError, InputError.
  TrainingSetup(ExperimentFile experiment, int num_threads, const std::stop_token& stop);

  const ExperimentFile& experiment() const { return experiment_; }

  /// On the evaluation samples.
  const GraphObjective& objective() const { return *objective_; }

  /// Whose model is that of the training samples: another than objective()'s where they lie in a
  /// file of their own, since a loss may be divided by what its targets count. Its threads are for
  /// all runs.
  const GraphObjective& training() const { return training_ ? *training_ : *objective_; }

  /// Of each parameter block.
  const std::vector<bool>& trained() const { return trained_; }

  /// Shared by all seeds, or drawn for this one.
  TrainingSet training_set(std::uint64_t seed) const;

  /// @param fixed  training_set(seed).
  /// @param batch  samples of a batch; 0: all there are.
  std::unique_ptr<BatchLoss> losses(std::uint64_t seed,
                                    TrainingSet fixed,
                                    std::int64_t batch) const;

  /// Whether every batch is the whole training set.
  bool is_full_batch() const;

  /// training_remarks() of the experiment, or of one run of it.
  std::vector<std::string> remarks(const std::string& run) const;

  const std::vector<Monitor>& monitors() const { return monitors_; }

  /// On the samples that monitors look at: the training set, or a copy of objective() where every
  /// step draws fresh samples.
  /// @param fixed  training_set() of the seed.
  std::unique_ptr<GraphObjective> monitored(const TrainingSet& fixed) const;

  /// The parameters that a seed starts from.
  /// @throws InputError for a checkpoint that does not fit or is not finite.
  Eigen::VectorXd start_of(std::uint64_t seed) const;

  TrainingRun make_run(const ExperimentRun& run, Eigen::VectorXd start, BatchLoss& losses) const;

  /// All that the files of one run from one seed depend on.
  io::RunConfiguration configuration(const ExperimentRun& run, std::uint64_t seed) const;

 private:
  struct StoredStart {
    Eigen::VectorXd theta;
    std::string sha256;  // of the bytes that it was read from
  };

  // 0 where every batch is drawn anew.
  std::int64_t num_training_samples() const;

  /// @throws ConfigError.
  void check_monitors() const;

  Model make_model(const ModelSources& sources) const;

  /// For data of these shapes. @throws ConfigError with the place in the experiment file,
  /// InputError.
  Model made_for(const TensorShapes& shapes) const;

  /// The model of the evaluation samples, where it may be another than that of the training
  /// samples.
  /// @throws InputError where it does not have the same parameters and arrays.
  Model evaluated_model(const Model& trained, const TensorShapes& shapes) const;

  /// Of a checkpoint that the experiment names: read when it is first asked for, and kept.
  const StoredStart& stored_start(std::uint64_t seed) const;

  ExperimentFile experiment_;
  std::stop_token stop_;
  std::vector<Monitor> monitors_;
  std::unique_ptr<Sampler> sampler_;  // of [data]; null for a file
  TrainingSet fixed_;                 // that all seeds share; null if there is none
  std::string data_sha256_;           // of files, if any
  std::string evaluation_sha256_;
  std::unique_ptr<GraphObjective> objective_;
  std::unique_ptr<GraphObjective> training_;  // null where it is objective_
  std::vector<bool> trained_;
  std::unique_ptr<std::mutex> starts_mutex_ = std::make_unique<std::mutex>();
  mutable std::map<std::uint64_t, StoredStart> starts_;  // by seed
};

}  // namespace hesscope::detail
