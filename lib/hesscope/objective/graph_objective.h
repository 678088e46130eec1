// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <hesscope/models/model.h>
#include <hesscope/objective/objective.h>
#include <hesscope/objective/sample_table.h>
#include <hesscope/structured/graph_hessian.h>

namespace hesscope {

class Executor;
class Team;

/// Writes the records of the samples in a range one after the other: range.size() times the model's
/// record_size() numbers. Called concurrently for ranges that do not overlap.
using RecordSource = std::function<void(SampleRange range, std::span<double> records)>;

/// The Objective of a model on a data set: the full Hessian by the model's StructuredHessian or,
/// where it has none, by that found in its graph (graph_hessian.h); values and gradients by the
/// model's StructuredLoss where it has one; all else by the generic engine (sweep.h).
///
/// Model::weight_decay w adds w/2 |theta|^2 to the loss of every sample: to values, gradients
/// (those of samples, too) and Hessians. It is no function of predictions: gauss_newton() is J' L J
/// without w I, as PyTorch's libraries have it, and the Hessian exceeds it by w I where predictions
/// are linear. Invariances of the model are none of its objective then.
///
/// What structure found in the graph gives is held against a product with the Hessian, and is
/// computed anew by the generic engine where it is off by more than 1e-10 of its norm, as of losses
/// with finite differences.
///
/// @cost hessian: as StructuredHessian says, and hessian_times() once; generic:
///       n / Sweep::kMaxDirections second-order sweeps over every sample, each restricted to the
///       part of the network its columns and rows need;
///       memory one n x n matrix plus, per thread, a Sweep and a few blocks of n x kMaxDirections.
///       gauss_newton: the same or, where predictions have so few entries m that it is less, m + 1
///       gradients and m n^2 / 2 multiplications a sample, and some 16 KiB times n of memory.
class GraphObjective final : public Objective {
 public:
  struct Options {
    int num_threads = 0;  ///< 0 = one per core; never changes a result
    /// Whether structure may be used, the model's or its graph's, and by gauss_newton() the
    /// Jacobians of predictions with few entries. The result is the same to rounding.
    bool use_structure = true;
    /// What the generic engine and graph_hessian() use.
    InstructionSet instruction_set = best_instruction_set();
    /// Asked often; once the answer is true, whatever is being computed ends soon, by Interrupted.
    StopRequest stop = {};
    /// Other processes that share the work of Objective's members, each with an objective like this
    /// one, called `team_number` (team_service.h); null = none. Never changes a result.
    std::shared_ptr<Team> team = {};
    std::int64_t team_number = 0;
  };

  /// @param samples  at least one row; columns = model.record_size().
  /// @throws PreconditionError if the sizes do not fit, the model has no parameters, or by
  ///         require_blocks().
  GraphObjective(Model model, SampleTable samples, const Options& options);
  GraphObjective(Model model, SampleTable samples);

  /// The same of a table that others use, too.
  GraphObjective(Model model, std::shared_ptr<const SampleTable> samples, const Options& options);
  ~GraphObjective() override;

  Eigen::Index num_parameters() const override;
  Eigen::Index num_samples() const override;
  std::span<const ParameterBlock> parameter_blocks() const override;
  double weight_decay() const override;

  bool has_third_derivatives() const override { return true; }

  bool has_gauss_newton() const override;  ///< Whether the model declares its prediction.
  double workspace_bytes() const override;
  std::vector<Invariance> invariances() const override;

  const Model& model() const;

  /// Records of its own samples.
  const SampleTable& samples() const;

  /// The same, for another objective on them.
  const std::shared_ptr<const SampleTable>& shared_samples() const;

  /// The threads it computes on, for those who call it many times at once: from bodies of its
  /// for_each() calls share the threads.
  const Executor& executor() const;

  /// The options that it was made with, for other objectives that this process has for itself:
  /// without a team.
  Options options_alone() const;

  /// What hessian() takes where it uses the structure found in the graph.
  std::optional<HessianPlan> hessian_plan() const;

  /// Mean loss and its gradient over samples 0 ... num_samples - 1 that are made when they are
  /// needed, block by block on the thread that uses them, instead of the objective's own. The same
  /// to the last bit as value_and_gradient() of an objective that has them.
  /// @throws PreconditionError if theta does not fit, num_samples < 1 or `source` is empty; what
  ///         `source` throws.
  ValueAndGradient value_and_gradient_of(const ConstVectorRef& theta,
                                         Eigen::Index num_samples,
                                         const RecordSource& source) const;

  /// Whether the model classifies samples: its prediction is either logits, one for each class of
  /// the one array that holds a class for each sample, or one number whose sign is that of the one
  /// array that holds signs.
  bool has_accuracy() const;

  /// The share of the samples that are classified correctly: the logit of their class exceeds all
  /// others, or the prediction has their sign. Ties, zeros and NaN are wrong.
  /// @cost less than a value. @throws PreconditionError also without has_accuracy().
  double accuracy(const ConstVectorRef& theta, SampleRange range) const;

 private:
  double do_sample_weight(SampleRange range) const override;
  double do_value(const ConstVectorRef& theta, SampleRange range) const override;
  ValueAndGradient do_value_and_gradient(const ConstVectorRef& theta,
                                         SampleRange range) const override;
  Matrix do_hessian(const ConstVectorRef& theta,
                    SampleRange range,
                    const ProgressCallback& progress) const override;
  Matrix do_hessian_times(const ConstVectorRef& theta,
                          const ConstMatrixRef& directions,
                          SampleRange range) const override;
  Matrix do_hessian_columns(const ConstVectorRef& theta,
                            SampleRange range,
                            Eigen::Index first,
                            Eigen::Index width) const override;
  void do_with_ranks(const ConstVectorRef& theta,
                     SampleRange range,
                     const std::function<void()>& body) const override;
  Matrix do_third_derivative_times(const ConstVectorRef& theta,
                                   const ConstMatrixRef& u,
                                   const ConstMatrixRef& v,
                                   SampleRange range) const override;
  Matrix do_line_derivatives(const ConstVectorRef& theta,
                             const ConstMatrixRef& directions,
                             SampleRange range) const override;
  Matrix do_gauss_newton(const ConstVectorRef& theta,
                         SampleRange range,
                         const ProgressCallback& progress) const override;
  Matrix do_gauss_newton_times(const ConstVectorRef& theta,
                               const ConstMatrixRef& directions,
                               SampleRange range) const override;
  Matrix do_predictions(const ConstVectorRef& theta, SampleRange range) const override;
  Matrix do_prediction_jacobian(const ConstVectorRef& theta, SampleRange range) const override;
  Matrix do_per_sample_gradients(const ConstVectorRef& theta, SampleRange range) const override;
  Matrix do_per_sample_hessian_times(const ConstVectorRef& theta,
                                     const ConstMatrixRef& directions,
                                     SampleRange range) const override;

  // By the generic engine.
  Matrix products(Curvature curvature,
                  const ConstVectorRef& theta,
                  const ConstMatrixRef& directions,
                  SampleRange range) const;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hesscope
