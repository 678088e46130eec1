// SPDX-License-Identifier: BSD-3-Clause
//
// Sums of derivatives of a graph's loss over a run of samples, on one thread: the untemplated
// interface to the tape. The implementation (how many samples share a vector register) depends on
// the instruction set and affects only the last bits of a sum.
#pragma once

#include <memory>
#include <span>

#include <hesscope/autodiff/curvature.h>
#include <hesscope/autodiff/graph.h>
#include <hesscope/core/eigen.h>
#include <hesscope/simd/instruction_set.h>

namespace hesscope {

/// Sample records in memory: record i begins at data + i * stride.
struct Records {
  const double* data = nullptr;
  Eigen::Index count = 0;
  Eigen::Index stride = 0;
};

/// Where Sweep::gauss_newton_factors() writes.
struct GaussNewtonFactors {
  std::span<double> jacobian;  ///< J
  std::span<double> weighted;  ///< L J
};

/// One thread's workspace for a graph. Not safe for concurrent use; make one per thread.
/// Outputs are added to, never overwritten. theta has graph.num_parameters() entries.
class Sweep {
 public:
  /// Directions, and so Hessian columns, processed in one sweep.
  static constexpr int kMaxDirections = 8;

  /// Samples per pack in gauss_newton_factors().
  static constexpr int kPackSamples = 8;

  /// `graph` must have an output and outlive the sweep.
  /// @throws PreconditionError if it has none or the set is not supported.
  static std::unique_ptr<Sweep> create(const Graph& graph,
                                       InstructionSet set = best_instruction_set());

  /// Memory of one Sweep of this graph.
  static double workspace_bytes(const Graph& graph, InstructionSet set = best_instruction_set());

  virtual ~Sweep();

  /// The sum of the samples' losses.
  virtual double value(std::span<const double> theta, Records records) = 0;

  /// Returns the sum of the losses and adds the sum of their gradients.
  virtual double value_and_gradient(std::span<const double> theta,
                                    Records records,
                                    std::span<double> gradient) = 0;

  /// Writes each sample's gradient: sample i's into gradients[i * n, (i + 1) * n).
  virtual void per_sample_gradients(std::span<const double> theta,
                                    Records records,
                                    std::span<double> gradients) = 0;

  /// Writes each sample's Hessian times its own direction: for sample i, the direction is
  /// directions[i * n, (i + 1) * n), and the product goes to products[i * n, (i + 1) * n).
  virtual void per_sample_hessian_times(std::span<const double> theta,
                                        Records records,
                                        std::span<const double> directions,
                                        std::span<double> products) = 0;

  /// Writes each sample's prediction z of m entries: sample i's into predictions[i * m, (i + 1) *
  /// m), row by row. @throws PreconditionError if the graph has no prediction.
  virtual void predictions(std::span<const double> theta,
                           Records records,
                           std::span<double> predictions) = 0;

  /// Adds rows first_column <= i < n of columns [first_column, first_column + num_columns) of the
  /// sum of the Hessians, or of another curvature: H(i, first_column + k) goes to
  /// out[(i - first_column) * num_columns + k]. Requires 1 <= num_columns <= kMaxDirections.
  /// @throws PreconditionError for Curvature::kGaussNewton if the graph has no prediction.
  virtual void curvature_columns(Curvature curvature,
                                 std::span<const double> theta,
                                 Records records,
                                 Eigen::Index first_column,
                                 int num_columns,
                                 std::span<double> out) = 0;

  /// Adds (sum of Hessians, or of another curvature) V for V of size n x num_directions, both V and
  /// the result with entry (i, k) at [i * num_directions + k]. Requires 1 <= num_directions <=
  /// kMaxDirections. @throws PreconditionError as above.
  virtual void curvature_times(Curvature curvature,
                               std::span<const double> theta,
                               Records records,
                               std::span<const double> directions,
                               int num_directions,
                               std::span<double> out) = 0;

  /// The factors J and L J of the samples' Gauss-Newton matrices J^T L J, where L = d2l/dz2 (m x m)
  /// and the m entries of the prediction z are taken row by row. `out.jacobian` and `out.weighted`
  /// hold packs of kPackSamples samples side by side: entry (k, j) of sample i's matrix goes to
  ///   [((i / kPackSamples) * m + k) * n + j] * kPackSamples + i % kPackSamples,
  /// and the last pack is filled up with zeros.
  /// @throws PreconditionError if the graph has no prediction.
  /// @cost m + 1 gradients, and m^2 n multiplications.
  virtual void gauss_newton_factors(std::span<const double> theta,
                                    Records records,
                                    GaussNewtonFactors out) = 0;

  void hessian_columns(std::span<const double> theta,
                       Records records,
                       Eigen::Index first_column,
                       int num_columns,
                       std::span<double> out) {
    curvature_columns(Curvature::kHessian, theta, records, first_column, num_columns, out);
  }

  void hessian_times(std::span<const double> theta,
                     Records records,
                     std::span<const double> directions,
                     int num_directions,
                     std::span<double> out) {
    curvature_times(Curvature::kHessian, theta, records, directions, num_directions, out);
  }
};

}  // namespace hesscope
