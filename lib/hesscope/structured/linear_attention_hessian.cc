// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <utility>
#include <vector>

#include <hesscope/core/error.h>
#include <hesscope/linalg/internal/triangles.h>
#include <hesscope/structured/internal/linear_attention/sum.h>
#include <hesscope/structured/linear_attention_hessian.h>

namespace hesscope {
namespace {

using detail::LinearAttentionSizes;
using detail::LinearAttentionSum;
using detail::LinearAttentionWeights;
using detail::Triangle;
using Parametrization = LinearAttentionStructure::Parametrization;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

class LinearAttentionHessian final : public StructuredHessian {
 public:
  LinearAttentionHessian(const LinearAttentionStructure& structure, InstructionSet set)
      : structure_(structure),
        sum_(LinearAttentionSizes(structure), HESSCOPE_KERNELS(linear_attention_kernels, set)) {}

  bool mean(std::span<const double> theta,
            Records records,
            const Executor& executor,
            const ProgressCallback& progress,
            Eigen::Ref<MatrixXd> h) const override {
    const bool is_split = structure_.parametrization == Parametrization::kSplitQk;
    const Index num_pq = LinearAttentionSizes(structure_).num_parameters();
    require_fit(is_split ? num_pq / 2 * 3 : num_pq, theta, records, h);
    const double factor = 1.0 / static_cast<double>(records.count);
    // sum_ is for half the squares.
    if (structure_.parametrization != Parametrization::kSplitQk) {
      sum_.compute(
          LinearAttentionWeights(structure_, theta), records, executor, progress, h, nullptr);
      return detail::fill_triangles(executor, Triangle::kUpper, 2.0 * factor, h);
    }
    const Index n = LinearAttentionSizes(structure_).num_parameters();
    MatrixXd pq(n, n);
    VectorXd gradient(n);
    sum_.compute(
        LinearAttentionWeights(structure_, theta), records, executor, progress, pq, &gradient);
    detail::fill_triangles(executor, Triangle::kUpper, 2.0, pq);
    from_pq_to_split(theta, pq, 2.0 * gradient, h);
    return detail::fill_triangles(executor, Triangle::kUpper, factor, h);
  }

  double workspace_bytes(int num_threads) const override {
    if (structure_.parametrization != Parametrization::kSplitQk) {
      return sum_.workspace_bytes(num_threads);
    }
    // The memory for from_pq_to_split(): H in (P, Q), the Jacobians and a product with one of them.
    const auto pq = static_cast<double>(LinearAttentionSizes(structure_).num_parameters());
    const double jacobian = 6.0 * std::pow(static_cast<double>(extent()), 4);
    const double numbers = pq * pq + (static_cast<double>(structure_.layers) + 1.0) * jacobian;
    return sum_.workspace_bytes(num_threads) + numbers * sizeof(double);
  }

 private:
  Index extent() const { return structure_.dimension + 1; }

  // H in (P, WQ, WK) from H and gradient in (P, Q), Q = WK^T WQ: with J the Jacobian, J^T H J +
  // sum_ij (dL/dQ_ij) d2 Q_ij. Sets at least the upper triangle.
  void from_pq_to_split(std::span<const double> theta,
                        const MatrixXd& pq,
                        const VectorXd& gradient,
                        Eigen::Ref<MatrixXd> h) const {
    const Index e = extent();
    const Index ee = e * e;
    const Index layers = structure_.layers;
    // dQ_ij / dWQ_aj = WK_ai, dQ_ij / dWK_ai = WQ_aj.
    std::vector<MatrixXd> jacobians;
    for (Index l = 0; l < layers; ++l) {
      const Eigen::Map<const RowMajor> wq(theta.data() + 3 * ee * l + ee, e, e);
      const Eigen::Map<const RowMajor> wk(theta.data() + 3 * ee * l + 2 * ee, e, e);
      MatrixXd j = MatrixXd::Zero(2 * ee, 3 * ee);
      j.topLeftCorner(ee, ee).setIdentity();
      for (Index i = 0; i < e; ++i) {
        for (Index k = 0; k < e; ++k) {
          for (Index a = 0; a < e; ++a) {
            j(ee + i * e + k, ee + a * e + k) += wk(a, i);
            j(ee + i * e + k, 2 * ee + a * e + i) += wq(a, k);
          }
        }
      }
      jacobians.push_back(std::move(j));
    }
    for (Index l = 0; l < layers; ++l) {
      const auto& jl = jacobians[static_cast<std::size_t>(l)];
      for (Index m = 0; m <= l; ++m) {
        const auto& jm = jacobians[static_cast<std::size_t>(m)];
        h.block(3 * ee * m, 3 * ee * l, 3 * ee, 3 * ee).noalias() =
            jm.transpose() * pq.block(2 * ee * m, 2 * ee * l, 2 * ee, 2 * ee) * jl;
      }
      // d2 Q_ij / dWK_ai dWQ_aj = 1.
      for (Index i = 0; i < e; ++i) {
        for (Index j = 0; j < e; ++j) {
          for (Index a = 0; a < e; ++a) {
            h(3 * ee * l + ee + a * e + j, 3 * ee * l + 2 * ee + a * e + i) +=
                gradient(2 * ee * l + ee + i * e + j);
          }
        }
      }
    }
  }

  LinearAttentionStructure structure_;
  LinearAttentionSum sum_;
};

}  // namespace

std::shared_ptr<const StructuredHessian> linear_attention_hessian(
    const LinearAttentionStructure& structure, InstructionSet set) {
  if (structure.layers < 1 || structure.dimension < 1 || structure.context < 1) {
    throw PreconditionError(
        "linear_attention_hessian: layers, dimension and context must be at least 1");
  }
  auto hessian = std::make_shared<LinearAttentionHessian>(structure, set);
  // The matrices of one pack grow as d^4.
  constexpr double kMaxWorkspaceBytes = 512.0 * (1 << 20);
  if (hessian->workspace_bytes(1) > kMaxWorkspaceBytes) return nullptr;
  return hessian;
}

}  // namespace hesscope
