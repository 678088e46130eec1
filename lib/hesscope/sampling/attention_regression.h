// SPDX-License-Identifier: BSD-3-Clause
//
// Random sequences and targets for one layer of attention.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/sampling/sampler_registry.h>

namespace hesscope {

struct AttentionRegressionOptions {
  enum class Targets {
    kGaussian,         ///< y ~ N(0, I_n), independent of X: can be fitted, but has nothing to learn
    kSoftmaxTeacher,   ///< y = MH(X), the output of a fixed attention layer
    kGaussianTeacher,  ///< the same with the Gaussian kernel
  };

  std::int64_t sequence = 1;   ///< n
  std::int64_t embedding = 1;  ///< D
  Targets targets = Targets::kGaussian;
  std::int64_t teacher_heads = 1;           ///< H
  std::int64_t teacher_head_dimension = 1;  ///< d
  std::uint64_t teacher_seed = 0;
};

/// "attention-regression": X with independent N(0, 1) entries, and y according to `targets`.
///
/// A teacher is sum over h of S_h X WV_h WO_h as in the model `attention`, with S = softmax by row
/// of q k^T / sqrt(d) or exp(-|q - k|^2 / (2 sqrt d)). Its entries are N(0, 1 / D) in WQ, WK and
/// WV, N(0, 1 / (H d)) in WO, from (teacher_seed, Stream::kTask, 0): for every head WQ_h, WK_h,
/// WV_h (D x d, each row by row), then WO.
///
/// Arrays: inputs (n, D), target (n).
/// @cost n (D + 1) normal numbers; a teacher takes a further 3 n D d + 2 n^2 d products per head.
/// @source Shapes from theorem 1 of Song et al. (2024), arXiv 2411.07538. The distributions are
/// ours; those of the paper are not known to us.
class AttentionRegression final : public Sampler {
 public:
  /// @throws PreconditionError for sizes below 1.
  explicit AttentionRegression(const AttentionRegressionOptions& options);

  void draw(std::uint64_t seed,
            Stream stream,
            std::uint64_t index,
            std::span<double> record) const override;

 private:
  struct Head {
    Eigen::MatrixXd queries, keys;  // D x d
    Eigen::VectorXd values;         // D: WV_h WO_h
  };

  Eigen::VectorXd teach(const Eigen::Ref<const Eigen::MatrixXd>& x) const;

  AttentionRegressionOptions options_;
  std::vector<Head> teacher_;
};

SamplerKind attention_regression_kind();

}  // namespace hesscope
