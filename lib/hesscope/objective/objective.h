// SPDX-License-Identifier: BSD-3-Clause
//
// The seam of the library: everything above (eigensolvers, optimisers, analyzers, programs) sees an
// Objective and no model and no template; everything below is generated from a forward pass.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/core/invariance.h>
#include <hesscope/core/parameter_block.h>
#include <hesscope/core/progress.h>

namespace hesscope {

/// Samples [begin, end).
struct SampleRange {
  Eigen::Index begin = 0;
  Eigen::Index end = 0;

  Eigen::Index size() const { return end - begin; }
};

/// The mean loss over a set of samples as a function of n parameters,
///   f(theta) = (1 / |range|) sum_{i in range} loss_i(theta).
///
/// theta has num_parameters() entries and `range` is a non-empty part of [0, num_samples());
/// otherwise PreconditionError. Non-finite values are returned, not thrown. All members are const
/// and safe to call concurrently. Results are bit-identical for any number of threads.
///
/// To write an objective of your own, override the members without a body and any of the others
/// that you have something better for. Those named do_... are called with arguments that have been
/// checked, and an answer of another size than promised is refused by PreconditionError, so callers
/// need check neither.
class Objective {
 public:
  using Vector = Eigen::VectorXd;
  using Matrix = Eigen::MatrixXd;
  using ConstVectorRef = Eigen::Ref<const Eigen::VectorXd>;
  using ConstMatrixRef = Eigen::Ref<const Eigen::MatrixXd>;

  struct ValueAndGradient {
    double value;
    Vector gradient;
  };

  virtual ~Objective() = default;

  virtual Eigen::Index num_parameters() const = 0;
  virtual Eigen::Index num_samples() const = 0;

  SampleRange all_samples() const { return {0, num_samples()}; }

  /// In flat order; offsets and sizes tile [0, num_parameters()).
  virtual std::span<const ParameterBlock> parameter_blocks() const = 0;

  /// w of a term w/2 |theta|^2 in f that does not come from the samples.
  virtual double weight_decay() const { return 0; }

  /// Whether third derivatives are known, and those along lines to the order kLineOrder.
  virtual bool has_third_derivatives() const { return false; }

  /// Whether the losses are known as functions l_i(z_i(theta)) of predictions z_i, and with them
  /// the Gauss-Newton matrix
  ///   G = (1 / |range|) sum_i J_i^T (d2l_i/dz2) J_i,   J_i = dz_i/dtheta:
  /// the Hessian without what the second derivatives of z_i put into it. Positive semidefinite
  /// where l_i is convex in z_i.
  virtual bool has_gauss_newton() const { return false; }

  /// Memory that a call of hessian() needs besides the matrix it returns: the data held and the
  /// scratch of its threads. An upper estimate.
  virtual double workspace_bytes() const = 0;

  /// Known maps of the parameters that leave the value as it is, on any range of samples. None
  /// unless the objective knows some; more may exist.
  virtual std::vector<Invariance> invariances() const { return {}; }

  /// The total weight of the samples of a range, scaled so that all N samples together weigh N. It
  /// is their number unless the loss is a mean with weights w_i, of classes or of targets that are
  /// not ignored: then loss_i has the factor N / sum w, and sample i weighs N w_i / sum w. A loss
  /// that is divided by the weights of its own samples is therefore |range| / sample_weight(range)
  /// times f, apart from weight decay.
  double sample_weight(SampleRange range) const;

  double value(const ConstVectorRef& theta, SampleRange range) const;
  double value(const ConstVectorRef& theta) const;

  /// @cost about 3 values.
  ValueAndGradient value_and_gradient(const ConstVectorRef& theta, SampleRange range) const;
  Vector gradient(const ConstVectorRef& theta, SampleRange range) const;
  Vector gradient(const ConstVectorRef& theta) const;

  /// The exact Hessian, n x n, symmetric to the last bit.
  /// @cost   at most n / 2 gradients-with-tangents; memory n^2 doubles plus a bounded scratch per
  ///         thread.
  Matrix hessian(const ConstVectorRef& theta,
                 SampleRange range,
                 const ProgressCallback& progress = {}) const;
  Matrix hessian(const ConstVectorRef& theta) const;

  /// H V for V of size n x k, without forming H. @cost about 3 k gradients at most.
  /// @throws PreconditionError also if V has not n rows, here and below.
  Matrix hessian_times(const ConstVectorRef& theta,
                       const ConstMatrixRef& directions,
                       SampleRange range) const;
  Matrix hessian_times(const ConstVectorRef& theta, const ConstMatrixRef& directions) const;

  /// Columns that hessian_columns() computes together.
  static constexpr Eigen::Index kColumnGroup = 8;

  /// Columns [first, first + width) of the Hessian from row `first` on, (n - first) x width; their
  /// entries above the diagonal have no meaning. Computed by this process alone: ranks take
  /// different columns (with_ranks). Whole groups of kColumnGroup columns, counted from the first
  /// of the n, are the same to the last bit whatever others they are asked for with, and, of a
  /// GraphObjective, those of hessian() where no structure is used.
  /// @throws PreconditionError also unless the columns are among the n.
  Matrix hessian_columns(const ConstVectorRef& theta,
                         SampleRange range,
                         Eigen::Index first,
                         Eigen::Index width) const;

  /// Calls body(); where ranks share the work of this objective, so do the others what they serve
  /// with (team_service.h), at the same point and samples. There it may be called for columns and
  /// for what it is made of, for nothing that ranks share.
  void with_ranks(const ConstVectorRef& theta,
                  SampleRange range,
                  const std::function<void()>& body) const;

  /// T[u_k, v_k] for the columns u_k, v_k of U and V, n x k each, as the columns of an n x k
  /// matrix: how H v changes along u, exactly,
  ///   T[u, v]_i = d/de (H(theta + e u) v)_i at e = 0
  ///             = sum_jl (d3f / dtheta_i dtheta_j dtheta_l) u_j v_l.
  /// Symmetric: w . T[u, v] is the same for any order of u, v and w. At a kink, where a function's
  /// second derivative is by convention that of one side or 0, so is the third.
  /// @cost at most 4 times that of hessian_times() for k directions.
  /// @throws PreconditionError also without has_third_derivatives() or if the shapes do not fit.
  Matrix third_derivative_times(const ConstVectorRef& theta,
                                const ConstMatrixRef& u,
                                const ConstMatrixRef& v,
                                SampleRange range) const;
  Matrix third_derivative_times(const ConstVectorRef& theta,
                                const ConstMatrixRef& u,
                                const ConstMatrixRef& v) const;

  /// The highest order of line_derivatives().
  static constexpr Eigen::Index kLineOrder = 4;

  /// How the loss changes along lines, exactly: for the columns v_k of V, n x k, as a matrix of
  /// kLineOrder + 1 rows and k columns,
  ///   entry (p, k) = (d/dt)^p f(theta + t v_k) at t = 0,
  /// in turn f, g . v, v . H v, v . T[v, v] and the fourth derivative, the form of which on n
  /// parameters is never made. If v is c times as long, row p is c^p times as large. At a kink,
  /// where a function's second derivative is by convention that of one side or 0, so are all higher
  /// ones.
  /// @cost less than third_derivative_times() for as many pairs: of 16 directions with AVX-512, 1.3
  /// (multilayer perceptron) to 2.7 times (linear attention) that of hessian_times().
  /// @throws PreconditionError also without has_third_derivatives().
  /// @source Griewank & Walther (2008), Evaluating derivatives, 2nd ed., SIAM, chapter 13.
  Matrix line_derivatives(const ConstVectorRef& theta,
                          const ConstMatrixRef& directions,
                          SampleRange range) const;
  Matrix line_derivatives(const ConstVectorRef& theta, const ConstMatrixRef& directions) const;

  /// The exact G, n x n, symmetric to the last bit. @cost at most that of hessian() without a
  /// StructuredHessian. @throws PreconditionError also without has_gauss_newton(), here and below.
  Matrix gauss_newton(const ConstVectorRef& theta,
                      SampleRange range,
                      const ProgressCallback& progress = {}) const;
  Matrix gauss_newton(const ConstVectorRef& theta) const;

  /// G V for V of size n x k, without forming G. @cost less than hessian_times().
  Matrix gauss_newton_times(const ConstVectorRef& theta,
                            const ConstMatrixRef& directions,
                            SampleRange range) const;
  Matrix gauss_newton_times(const ConstVectorRef& theta, const ConstMatrixRef& directions) const;

  /// The predictions z_i, as the columns of a matrix of |range| columns, each row by row; shifted
  /// by the sample's data where the objective takes that for its prediction (an `attention` model's
  /// z is MH - y).
  /// @cost less than a value.
  Matrix predictions(const ConstVectorRef& theta, SampleRange range) const;

  /// Their Jacobian: with m entries of a prediction, row i m + k holds the n derivatives of entry k
  /// of sample range.begin + i. J J^T is the tangent kernel of the samples.
  /// @cost m + 1 gradients; memory m |range| n doubles, and as much again for each thread's samples
  /// at hand.
  Matrix prediction_jacobian(const ConstVectorRef& theta, SampleRange range) const;

  /// Gradients of the single samples' losses (not divided by the number of samples), as the columns
  /// of an n x |range| matrix.
  Matrix per_sample_gradients(const ConstVectorRef& theta, SampleRange range) const;

  /// H_i v_i: the Hessian of each sample's loss times a direction of its own, for the columns v_i
  /// of V, n x |range|, as the columns of a matrix of that size.
  /// @cost as hessian_times() with one direction; unless overridden, that for each sample by
  ///       itself.
  /// @throws PreconditionError also if V has another size.
  Matrix per_sample_hessian_times(const ConstVectorRef& theta,
                                  const ConstMatrixRef& directions,
                                  SampleRange range) const;

 protected:
  virtual double do_value(const ConstVectorRef& theta, SampleRange range) const = 0;
  virtual ValueAndGradient do_value_and_gradient(const ConstVectorRef& theta,
                                                 SampleRange range) const = 0;
  virtual Matrix do_hessian(const ConstVectorRef& theta,
                            SampleRange range,
                            const ProgressCallback& progress) const = 0;
  virtual Matrix do_hessian_times(const ConstVectorRef& theta,
                                  const ConstMatrixRef& directions,
                                  SampleRange range) const = 0;
  virtual Matrix do_per_sample_gradients(const ConstVectorRef& theta, SampleRange range) const = 0;

  /// Unless overridden, the number of the samples.
  virtual double do_sample_weight(SampleRange range) const;

  /// Unless overridden, by hessian_times().
  virtual Matrix do_hessian_columns(const ConstVectorRef& theta,
                                    SampleRange range,
                                    Eigen::Index first,
                                    Eigen::Index width) const;
  virtual Matrix do_per_sample_hessian_times(const ConstVectorRef& theta,
                                             const ConstMatrixRef& directions,
                                             SampleRange range) const;

  /// Unless overridden, calls body() and nothing else.
  virtual void do_with_ranks(const ConstVectorRef& theta,
                             SampleRange range,
                             const std::function<void()>& body) const;

  /// To be overridden with has_third_derivatives().
  virtual Matrix do_third_derivative_times(const ConstVectorRef& theta,
                                           const ConstMatrixRef& u,
                                           const ConstMatrixRef& v,
                                           SampleRange range) const;
  virtual Matrix do_line_derivatives(const ConstVectorRef& theta,
                                     const ConstMatrixRef& directions,
                                     SampleRange range) const;

  /// To be overridden with has_gauss_newton().
  virtual Matrix do_gauss_newton(const ConstVectorRef& theta,
                                 SampleRange range,
                                 const ProgressCallback& progress) const;
  virtual Matrix do_gauss_newton_times(const ConstVectorRef& theta,
                                       const ConstMatrixRef& directions,
                                       SampleRange range) const;
  virtual Matrix do_predictions(const ConstVectorRef& theta, SampleRange range) const;
  virtual Matrix do_prediction_jacobian(const ConstVectorRef& theta, SampleRange range) const;
};

/// @throws PreconditionError for an objective that somebody wrote by hand and that has no
///         parameters, no samples, or blocks that require_blocks() refuses.
void require_objective(const Objective& objective);

/// Checks a point and a range as every Objective does; `function` begins the message.
/// @throws PreconditionError.
void require_point(const Objective& objective,
                   const char* function,
                   const Objective::ConstVectorRef& theta,
                   SampleRange range);

/// Checks that an objective has a Gauss-Newton matrix; `function` begins the message.
/// @throws PreconditionError.
void require_gauss_newton(const Objective& objective, const char* function);

}  // namespace hesscope
