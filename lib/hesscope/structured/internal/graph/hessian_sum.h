// SPDX-License-Identifier: BSD-3-Clause
//
// A sum of Hessians over samples, computed chunk by chunk.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <hesscope/core/executor.h>
#include <hesscope/simd/internal/aligned_buffer.h>
#include <hesscope/structured/internal/graph/graph_plan.h>

namespace hesscope::detail {

/// Some of the blocks: either those whose tangents are kept at the same time, or those of groups
/// whose tangents are not kept.
struct Stage {
  int first_block;
  int end_block;
  bool is_kept;
  std::vector<long> first_rows;        // for each block, if tangents are kept
  long num_rows;                       // for all blocks and directions
  std::vector<ProductTask> tasks;      // by wave
  long sweep_work;                     // multiply-adds per sample
  long work;                           // the same, including tasks
  std::vector<char> is_left_out = {};  // for each block, if other ranks compute some

  bool leaves_out(long b) const {
    return !is_left_out.empty() && is_left_out[static_cast<std::size_t>(b)] != 0;
  }
};

/// Point sweeps at one theta, as many as are ever used at the same time.
class PointPool {
 public:
  PointPool(const Graph& graph,
            const TangentKernels& kernels,
            PointLayout layout,
            std::span<const double> theta)
      : graph_(graph), kernels_(kernels), layout_(layout), theta_(theta) {}

  template <typename F>
  auto with_point(F use) {
    std::unique_ptr<PointSweep> sweep = take();
    const auto result = use(*sweep);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(sweep));
    return result;
  }

 private:
  std::unique_ptr<PointSweep> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto sweep = std::move(idle_.back());
        idle_.pop_back();
        return sweep;
      }
    }
    auto sweep = kernels_.point_sweep(graph_, layout_);
    sweep->set_theta(theta_);
    return sweep;
  }

  const Graph& graph_;
  const TangentKernels& kernels_;
  PointLayout layout_;
  std::span<const double> theta_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PointSweep>> idle_;
};

class HessianSum {
 public:
  /// @param num_packs  maximum per chunk.
  /// @param num_rows   maximum number of rows of tangents kept at the same time.
  HessianSum(const GraphPlan& plan,
             long num_packs,
             long num_rows,
             std::span<const double> theta,
             const Executor& executor);

  /// Computes values, adjoints and panels for these records. Returns the sum of the losses.
  double set_records(Records records);

  /// Computes the tangents of a stage's directions for the current records.
  void sweep(const Stage& stage);

  /// Computes the tangents of a stage's directions, and immediately their products, without keeping
  /// any.
  void sweep_and_add(const Stage& stage, HessianTarget h);

  void add_products(const Stage& stage, HessianTarget h, const std::function<void(long)>& done);

 private:
  // For one block, at packs [first, end).
  void sweep_and_add(const DirectionBlock& block, long first, long end, HessianTarget h);

  // Writes tangents to the buffer, followed by the tangents of adjoints; returns the latter.
  double* sweep_block(const DirectionBlock& block, long p, int part, double* buffer);

  int num_parts() const { return kPackSamples / plan_.kernels.lanes; }

  // Whether any lane of a part of pack p has a sample; if not, later parts have none either.
  bool has_samples(long p, int part) const {
    return p * kPackSamples + long{part} * plan_.kernels.lanes < num_samples_;
  }

  PackPoint point(long p);

  ChunkRows rows() const;

  // Copies to rows of samples.
  void copy_point(long p);

  // Keeps the tangents of a direction block of the stage, at a part of a pack; null stands for a
  // part without samples, that is, for zeros.
  void keep(
      const Stage& stage, long b, long p, int part, const double* tangents, const double* adjoints);

  const GraphPlan& plan_;
  const GraphLayout& layout_;
  const Executor& executor_;
  long num_samples_ = 0;
  int num_packs_ = 0;
  bool has_common_ = false;
  std::vector<double> common_;
  std::vector<SweepNode> nodes_;
  PointPool points_;
  AlignedBuffer point_;
  AlignedBuffer values_;
  AlignedBuffer adjoints_;
  AlignedBuffer ones_;
  AlignedBuffer zeros_;
  AlignedBuffer kept_;
  std::vector<AlignedBuffer> panel_buffers_;
  std::vector<double*> x_panels_;
  std::vector<double*> z_panels_;
  BufferPool sweeps_;
  BufferPool sums_;
  BufferPool scratch_;
};

}  // namespace hesscope::detail
