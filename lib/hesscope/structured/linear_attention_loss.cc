// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include <hesscope/core/error.h>
#include <hesscope/structured/internal/linear_attention/loss_kernels.h>
#include <hesscope/structured/internal/linear_attention/weights.h>
#include <hesscope/structured/linear_attention_loss.h>

namespace hesscope {
namespace {

using detail::LinearAttentionLossKernels;
using detail::LinearAttentionNetwork;
using detail::LinearAttentionSizes;
using detail::LinearAttentionWeights;
using Eigen::Index;
using Parametrization = LinearAttentionStructure::Parametrization;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

class LinearAttentionPoint final : public StructuredLoss::Point {
 public:
  LinearAttentionPoint(const LinearAttentionStructure& structure,
                       const LinearAttentionLossKernels& kernels,
                       std::span<const double> theta)
      : structure_(structure),
        kernels_(&kernels),
        theta_(theta.begin(), theta.end()),
        weights_(structure, theta),
        network_(LinearAttentionSizes(structure).network(weights_)) {}

  double value(StructuredLoss::Packs packs, double* scratch) const override {
    return kernels_->value(network_, packs.data, packs.count, scratch);
  }

  double value_and_gradient(StructuredLoss::Packs packs,
                            double* scratch,
                            std::span<double> sums) const override {
    return kernels_->value_and_gradient(network_, packs.data, packs.count, scratch, sums.data());
  }

  void gradient(std::span<const double> sums, std::span<double> gradient) const override {
    if (structure_.parametrization != Parametrization::kSplitQk) {
      std::ranges::copy(sums, gradient.begin());
      return;
    }
    // Q = WK^T WQ: dL/dWQ = WK dL/dQ, dL/dWK = WQ (dL/dQ)^T.
    const Index e = structure_.dimension + 1;
    const Index ee = e * e;
    for (Index l = 0; l < structure_.layers; ++l) {
      const double* from = sums.data() + 2 * ee * l;
      double* to = gradient.data() + 3 * ee * l;
      const Eigen::Map<const RowMajor> wq(theta_.data() + 3 * ee * l + ee, e, e);
      const Eigen::Map<const RowMajor> wk(theta_.data() + 3 * ee * l + 2 * ee, e, e);
      const Eigen::Map<const RowMajor> dq(from + ee, e, e);
      std::copy_n(from, ee, to);
      Eigen::Map<RowMajor>(to + ee, e, e).noalias() = wk * dq;
      Eigen::Map<RowMajor>(to + 2 * ee, e, e).noalias() = wq * dq.transpose();
    }
  }

 private:
  LinearAttentionStructure structure_;
  const LinearAttentionLossKernels* kernels_;
  std::vector<double> theta_;
  LinearAttentionWeights weights_;
  LinearAttentionNetwork network_;  // points into weights_
};

class LinearAttentionLoss final : public StructuredLoss {
 public:
  LinearAttentionLoss(const LinearAttentionStructure& structure, InstructionSet set)
      : structure_(structure),
        sizes_(structure),
        kernels_(&HESSCOPE_KERNELS(linear_attention_loss_kernels, set)) {}

  Index pack_samples() const override { return kernels_->lanes; }

  Index pack_size() const override { return kernels_->pack_size(sizes_.network()); }

  Index scratch_size() const override { return kernels_->scratch_size(sizes_.network()); }

  Index num_sums() const override { return sizes_.num_parameters(); }

  void condense(Records records, double* packs, double* scratch) const override {
    constexpr std::size_t kMaxLanes = 8;
    std::array<const double*, kMaxLanes> prompts{};
    std::array<double, kMaxLanes> targets{};
    const Index lanes = kernels_->lanes;
    const LinearAttentionNetwork network = sizes_.network();
    for (Index first = 0; first < records.count; first += lanes) {
      for (Index lane = 0; lane < lanes; ++lane) {
        const Index index = std::min(first + lane, records.count - 1);
        const double* record = records.data + index * records.stride;
        prompts[static_cast<std::size_t>(lane)] = record + sizes_.z_offset;
        targets[static_cast<std::size_t>(lane)] = record[sizes_.target_offset];
      }
      kernels_->condense(network,
                         prompts.data(),
                         targets.data(),
                         packs + first / lanes * kernels_->pack_size(network),
                         scratch);
    }
  }

  std::unique_ptr<Point> at(std::span<const double> theta) const override {
    return std::make_unique<LinearAttentionPoint>(structure_, *kernels_, theta);
  }

 private:
  LinearAttentionStructure structure_;
  LinearAttentionSizes sizes_;
  const LinearAttentionLossKernels* kernels_;
};

}  // namespace

std::shared_ptr<const StructuredLoss> linear_attention_loss(
    const LinearAttentionStructure& structure, InstructionSet set) {
  if (structure.layers < 1 || structure.dimension < 1 || structure.context < 1) {
    throw PreconditionError(
        "linear_attention_loss: layers, dimension and context must be at least 1");
  }
  return std::make_shared<LinearAttentionLoss>(structure, set);
}

}  // namespace hesscope
