// SPDX-License-Identifier: BSD-3-Clause
//
// What an objective asks of its samples, by the generic engine (sweep.h).
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/autodiff/sweep.h>
#include <hesscope/core/executor.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/objective/internal/sweep_pool.h>
#include <hesscope/objective/objective.h>
#include <hesscope/objective/sample_table.h>

namespace hesscope::detail {

/// Means over samples, in blocks whose size follows from the graph, and a fixed order of sums; and
/// what each sample gives by itself. Ranges and points are checked before.
class SweepSums {
 public:
  using Matrix = Objective::Matrix;

  /// References are kept.
  SweepSums(const Graph& graph,
            const SampleTable& samples,
            const Executor& executor,
            InstructionSet instruction_set);

  double value(const Eigen::VectorXd& theta, SampleRange range) const;

  Objective::ValueAndGradient value_and_gradient(const Eigen::VectorXd& theta,
                                                 SampleRange range) const;

  /// The same for samples 0 ... num_samples - 1 that `source` makes.
  Objective::ValueAndGradient value_and_gradient_of(const Eigen::VectorXd& theta,
                                                    Eigen::Index num_samples,
                                                    const RecordSource& source) const;

  /// The curvature matrix times n x k directions.
  Matrix curvature_times(Curvature curvature,
                         const Eigen::VectorXd& theta,
                         const Objective::ConstMatrixRef& directions,
                         SampleRange range) const;

  /// T[u_k, v_k] for the columns of n x k directions.
  Matrix third_derivative_times(const Eigen::VectorXd& theta,
                                const Objective::ConstMatrixRef& u,
                                const Objective::ConstMatrixRef& v,
                                SampleRange range) const;

  /// Objective::line_derivatives() along n x k directions.
  Matrix line_derivatives(const Eigen::VectorXd& theta,
                          const Objective::ConstMatrixRef& directions,
                          SampleRange range) const;

  /// The curvature matrix, column by column.
  Matrix curvature(Curvature curvature,
                   const Eigen::VectorXd& theta,
                   SampleRange range,
                   const ProgressCallback& progress) const;

  /// The rows from `first` on of its columns [first, first + width); zeros may stand above the
  /// diagonal. By this process alone.
  Matrix curvature_columns(Curvature curvature,
                           const Eigen::VectorXd& theta,
                           SampleRange range,
                           Eigen::Index first,
                           Eigen::Index width) const;

  /// The Gauss-Newton matrix from Jacobians: gauss_newton_mean().
  bool gauss_newton_by_factors(const Eigen::VectorXd& theta,
                               SampleRange range,
                               const ProgressCallback& progress,
                               Eigen::Ref<Matrix> g) const;

  /// As Objective has them.
  Matrix predictions(const Eigen::VectorXd& theta, SampleRange range) const;
  Matrix prediction_jacobian(const Eigen::VectorXd& theta, SampleRange range) const;
  Matrix per_sample_gradients(const Eigen::VectorXd& theta, SampleRange range) const;
  Matrix per_sample_hessian_times(const Eigen::VectorXd& theta,
                                  const Matrix& directions,
                                  SampleRange range) const;

  Records records(SampleRange range) const;

  /// Memory of each thread, but for what gauss_newton_by_factors() takes.
  double workspace_bytes() const;

 private:
  // A column for each sample, which fill(sweep, records, out, first) writes for a block of them, of
  // which `first` is the first column.
  template <typename F>
  Matrix columns(Eigen::Index num_rows, SampleRange range, F fill) const;

  template <typename F>
  void for_each_sum(Eigen::Index count, F body) const;

  // A matrix of this size, computed `width` columns at a time: add(first, count, product) gets the
  // sum over the samples of `range` for columns [first, first + count), row-major; the result is
  // the mean.
  template <typename F>
  Matrix columns_in_groups(Eigen::Index num_rows,
                           Eigen::Index num_columns,
                           Eigen::Index width,
                           SampleRange range,
                           F add) const;

  // The sum over samples of a group of columns, rows from `first` on, row-major; on_block(count) is
  // called after each block of samples. By this process alone.
  template <typename F>
  std::vector<double> column_group(Curvature curvature,
                                   const Eigen::VectorXd& theta,
                                   SampleRange range,
                                   Eigen::Index first,
                                   Eigen::Index width,
                                   F on_block) const;

  // In a fixed order, what `body` adds to a partial result for a block of samples.
  template <typename F>
  void sum(SampleRange range, std::span<double> result, F body) const;

  // The blocks of a sum, or of samples that each give a column.
  Eigen::Index num_blocks(Eigen::Index num_samples) const;
  SampleRange block_of(SampleRange range, Eigen::Index b) const;
  Records block(SampleRange range, Eigen::Index b) const;

  Eigen::Index num_parameters() const { return graph_->num_parameters(); }

  Eigen::Index prediction_size() const;

  const Graph* graph_;
  const SampleTable* samples_;
  const Executor* executor_;
  InstructionSet instruction_set_;
  Eigen::Index samples_per_block_;
  mutable SweepPool pool_;
};

}  // namespace hesscope::detail
