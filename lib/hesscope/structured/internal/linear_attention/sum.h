// SPDX-License-Identifier: BSD-3-Clause
//
// Sums over prompts, with respect to the parameters (P, Q) of every layer: divided into groups of
// packs, and groups into tasks. Ranks of a team share the groups of a small H, and the rows of a
// large one.
#pragma once

#include <vector>

#include <Eigen/Core>

#include <hesscope/core/block_tree.h>
#include <hesscope/simd/internal/aligned_buffer.h>
#include <hesscope/structured/internal/linear_attention/kernels.h>
#include <hesscope/structured/internal/linear_attention/weights.h>
#include <hesscope/structured/structured_hessian.h>

namespace hesscope::detail {

class LinearAttentionSum {
 public:
  LinearAttentionSum(const LinearAttentionSizes& sizes, const LinearAttentionKernels& kernels)
      : sizes_(sizes), kernels_(&kernels) {}

  /// The upper triangle of h = the Hessian, and gradient (if not null) = the gradient, of
  /// sum (f - t)^2 / 2. Below the diagonal h is undefined.
  void compute(const LinearAttentionWeights& weights,
               Records records,
               const Executor& executor,
               const ProgressCallback& progress,
               Eigen::Ref<Eigen::MatrixXd> h,
               Eigen::VectorXd* gradient) const;

  double workspace_bytes(int num_threads) const;

 private:
  /// Doubles per pack.
  struct PackSizes {
    std::size_t states;
    std::size_t gradients;
    std::size_t curvature;
    std::size_t second;
    std::size_t mixed;

    std::size_t total() const { return states + gradients + curvature + second + mixed; }
  };

  /// Runs body(i) for i in [0, count), on this thread or on all threads.
  using ForEach =
      std::function<void(Eigen::Index count, const std::function<void(Eigen::Index)>& body)>;

  LinearAttentionGroup group_of(const LinearAttentionNetwork& network, Eigen::Index packs) const;
  PackSizes pack_sizes(const LinearAttentionGroup& group) const;
  void place(LinearAttentionGroup& group, double* memory) const;
  std::size_t scratch_size(const LinearAttentionGroup& group) const;
  Eigen::Index packs_in_group(Eigen::Index num_packs) const;
  bool groups_are_tasks() const;

  /// Neighbouring rows that tasks compute together: no task adds to rows of two units, except for
  /// the second terms of the last layer's Q.
  struct RowUnit {
    Eigen::Index first;  ///< row of H
    double work;
  };

  /// The tasks that compute some of the rows; other rows to which they add are incomplete. The work
  /// of a task is measured by the number of layers that its rows pass, which take most of the time.
  struct RowPlan {
    BlockRange rows;
    std::vector<LinearAttentionRows> first_terms;         ///< of the last layer
    std::vector<LinearAttentionRows> others_of_last;      ///< after those
    std::vector<std::vector<LinearAttentionRows>> inner;  ///< for each earlier layer
    Eigen::Index work = 0;                                ///< per prompt
  };

  std::vector<RowUnit> row_units() const;
  RowPlan plan_rows(const BlockRange& rows) const;

  /// @param counter  is advanced by the plan's work.
  void add_group(const LinearAttentionGroup& group,
                 const RowPlan& plan,
                 Records records,
                 const ForEach& for_each,
                 BufferPool& scratch,
                 ProgressCounter& counter) const;
  void forward_reverse(const LinearAttentionGroup& group,
                       int pack,
                       Records records,
                       double* scratch) const;
  Eigen::Index first_p(Eigen::Index layer) const;
  Eigen::Index first_q(Eigen::Index layer) const;

  LinearAttentionSizes sizes_;
  const LinearAttentionKernels* kernels_;
};

}  // namespace hesscope::detail
