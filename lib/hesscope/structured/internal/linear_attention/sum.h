// SPDX-License-Identifier: BSD-3-Clause
//
// Sums over prompts, in the parameters (P, Q) of every layer: cut
// into groups of packs, and groups into tasks.
#pragma once

#include <vector>

#include <Eigen/Core>

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
  /// Doubles for one pack.
  struct PackSizes {
    std::size_t states;
    std::size_t gradients;
    std::size_t curvature;
    std::size_t second;
    std::size_t mixed;

    std::size_t total() const { return states + gradients + curvature + second + mixed; }
  };

  /// Runs body(i) for i in [0, count): on this thread, or on all.
  using ForEach =
      std::function<void(Eigen::Index count, const std::function<void(Eigen::Index)>& body)>;

  LinearAttentionGroup group_of(const LinearAttentionNetwork& network, Eigen::Index packs) const;
  PackSizes pack_sizes(const LinearAttentionGroup& group) const;
  void place(LinearAttentionGroup& group, double* memory) const;
  std::size_t scratch_size(const LinearAttentionGroup& group) const;
  Eigen::Index packs_in_group(Eigen::Index num_packs) const;
  bool groups_are_tasks() const;

  /// Of the tasks of a group that compute rows of H, for each prompt; one of them is as much as the
  /// layers that its rows pass. They take most of the time.
  Eigen::Index row_work() const;

  /// @param counter  informed of that work.
  void add_group(const LinearAttentionGroup& group,
                 Records records,
                 const ForEach& for_each,
                 BufferPool& scratch,
                 ProgressCounter& counter) const;
  void forward_reverse(const LinearAttentionGroup& group,
                       int pack,
                       Records records,
                       double* scratch) const;
  void add_blocks(LinearAttentionRows::Kind kind,
                  Eigen::Index fixed,
                  std::vector<LinearAttentionRows>& tasks) const;

  LinearAttentionSizes sizes_;
  const LinearAttentionKernels* kernels_;
};

}  // namespace hesscope::detail
