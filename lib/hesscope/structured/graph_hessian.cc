// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include <hesscope/core/constants.h>
#include <hesscope/core/huge_pages.h>
#include <hesscope/simd/internal/aligned_buffer.h>
#include <hesscope/structured/graph_hessian.h>
#include <hesscope/structured/internal/graph/curvature_products.h>
#include <hesscope/structured/internal/graph/direction_products.h>
#include <hesscope/structured/internal/graph/indexing.h>

namespace hesscope {
namespace {

using namespace detail;  // all that is here is made of them

// A chunk holds at most so many packs: an inner index of that length is enough for the products ...
constexpr long kChunkPacks = 64;
// ... and each of its parts so many doubles (64 MiB), if one pack has fewer: points and panels, and
// the tangents of some directions.
constexpr long kMaxDoubles = 1L << 23;
// The tangents of a stage, where those of one block are fewer: they stay in a cache that cores share.
constexpr long kStageDoubles = 1L << 20;

// A part of the blocks: those whose tangents are kept at once, or those of a group of which none are.
struct Stage {
  int first_block;
  int end_block;
  bool is_kept;
  std::vector<ProductTask> tasks;  // by wave
  long sweep_work;                 // multiply-adds of one sample
  long work;                       // the same with tasks
};

// Point sweeps at one theta, as many as are ever used at once.
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

class SiteHessian final : public GraphHessian {
 public:
  SiteHessian(std::shared_ptr<const Graph> graph,
              EntryNumbers entries,
              ParameterUses uses,
              InstructionSet set)
      : graph_(std::move(graph)),
        entries_(std::move(entries)),
        uses_(std::move(uses)),
        kernels_(tangent_kernels(set)),
        layout_(*graph_, entries_, uses_),
        planner_(*graph_, entries_, uses_, layout_.nodes(), layout_.one_hot_values()),
        products_(uses_, layout_, planner_, set),
        direction_products_(uses_, entries_, layout_, planner_, set) {
    point_size_ =
        (layout_.num_values() + layout_.num_adjoints() + layout_.num_coefficients()) * kPackSamples;
    max_packs_ = std::clamp(kMaxDoubles / std::max(1L, chunk_size(1)), 1L, wanted_packs());
    plan_.sweep_multiply_adds = planner_.sweep_work();
    plan_.product_multiply_adds = planner_.product_work();
    for (const UseGroup& group : planner_.groups())
      plan_.directions += std::ssize(group.directions);
    list_stages();
  }

  const HessianPlan& plan() const override { return plan_; }

  void sum(std::span<const double> theta,
           Records records,
           const Executor& executor,
           const ProgressCallback& progress,
           Eigen::Ref<Eigen::MatrixXd> h) const override;

  double workspace_bytes(int num_threads) const override {
    const long tangents = long{stage_directions_} * num_rows() * max_packs_ * kPackSamples;
    const long thread = 2L * layout_.num_tangents() * kDirections * kPackSamples +
                        CurvatureProducts::scratch_size(static_cast<int>(max_packs_)) +
                        direction_products_.sums_size() + 4L * entries_.size() * kPackSamples;
    return static_cast<double>(chunk_size(max_packs_) + tangents + num_threads * thread) *
           sizeof(double);
  }

 private:
  // Rows of tangents.
  long num_rows() const {
    return std::ssize(layout_.z_rows()) + std::ssize(layout_.tangent_rows());
  }

  // Enough for an inner index of kChunkPacks, positions of columns included.
  long wanted_packs() const {
    int positions = 1;
    const auto& groups = planner_.groups();
    for (int g = 0; g < static_cast<int>(groups.size()); ++g) {
      if (direction_products_.can_take(g)) continue;
      for (const int u : groups[at(g)].uses) {
        positions = std::max(positions, uses_.uses[at(u)].positions);
      }
    }
    return std::max(1L, kChunkPacks / positions);
  }

  // Doubles of points, rows and panels of so many packs.
  long chunk_size(long num_packs) const {
    long size = num_packs * (point_size_ + row_size(1) * (std::ssize(layout_.value_rows()) + 1 +
                                                          std::ssize(layout_.z_rows())));
    for (int u = 0; u < static_cast<int>(uses_.uses.size()); ++u) {
      size += products_.x_panels_size(u, static_cast<int>(num_packs)) +
              products_.delta_panels_size(u, static_cast<int>(num_packs));
    }
    return size;
  }

  static long row_size(long num_packs) { return num_packs * kPackSamples; }

  void list_stages() {
    const long per_direction = std::max(1L, num_rows()) * row_size(max_packs_);
    const auto num_blocks = static_cast<int>(planner_.blocks().size());
    const auto step = static_cast<int>(std::clamp(
        kStageDoubles / (per_direction * kDirections), 1L, std::max(1L, long{num_blocks})));
    const auto& blocks = planner_.blocks();
    for (int first = 0; first < num_blocks;) {
      const int group = blocks[at(first)].group;
      Stage stage{first, first, !direction_products_.can_take(group), {}, 0, 0};
      const auto belongs = [&](int b) {
        const bool is_of_group = blocks[at(b)].group == group;
        return stage.is_kept
                   ? b - first < step && !direction_products_.can_take(blocks[at(b)].group)
                   : is_of_group;
      };
      while (stage.end_block < num_blocks && belongs(stage.end_block)) {
        stage.sweep_work += static_cast<long>(blocks[at(stage.end_block)].multiply_adds);
        ++stage.end_block;
      }
      stage.work = stage.sweep_work;
      if (stage.is_kept) {
        stage.tasks = products_.tasks(stage.first_block, stage.end_block);
        for (const ProductTask& task : stage.tasks) stage.work += task.multiply_adds;
        stage_directions_ =
            std::max(stage_directions_, (stage.end_block - stage.first_block) * kDirections);
      }
      first = stage.end_block;
      stages_.push_back(std::move(stage));
    }
  }

  std::shared_ptr<const Graph> graph_;
  EntryNumbers entries_;
  ParameterUses uses_;
  const TangentKernels& kernels_;
  GraphLayout layout_;
  DirectionPlanner planner_;
  CurvatureProducts products_;
  DirectionProducts direction_products_;
  HessianPlan plan_;
  long point_size_ = 0;  // doubles of a PackPoint
  long max_packs_ = 1;
  int stage_directions_ = 0;
  std::vector<Stage> stages_;
};

// One call of sum().
class HessianSum {
 public:
  HessianSum(const Graph& graph,
             const TangentKernels& kernels,
             const GraphLayout& layout,
             const DirectionPlanner& planner,
             const ParameterUses& uses,
             const CurvatureProducts& products,
             const DirectionProducts& direction_products,
             long point_size,
             long num_packs,
             int stage_directions,
             std::span<const double> theta,
             const Executor& executor)
      : layout_(layout),
        planner_(planner),
        products_(products),
        direction_products_(direction_products),
        kernels_(kernels),
        executor_(executor),
        point_size_(point_size),
        num_uses_(static_cast<int>(uses.uses.size())),
        common_(at(layout.common_size())),
        nodes_(layout.with_common(common_)),
        points_(graph, kernels, {nodes_, layout.one_hots(), uses.varies}, theta),
        point_(at(num_packs * point_size)),
        values_(at(std::ssize(layout.value_rows()) * num_packs * kPackSamples)),
        adjoints_(at(std::ssize(layout.z_rows()) * num_packs * kPackSamples)),
        ones_(at(num_packs * kPackSamples)),
        zeros_(at(num_packs * kPackSamples)),
        adjoint_tangents_(
            at(std::ssize(layout.z_rows()) * stage_directions * num_packs * kPackSamples)),
        value_tangents_(
            at(std::ssize(layout.tangent_rows()) * stage_directions * num_packs * kPackSamples)),
        sweeps_(at(2L * layout.num_tangents() * kDirections * kPackSamples)),
        sums_(at(direction_products.sums_size())),
        scratch_(at(CurvatureProducts::scratch_size(static_cast<int>(num_packs)))) {
    std::fill_n(ones_.data(), num_packs * kPackSamples, 1.0);
    std::fill_n(zeros_.data(), num_packs * kPackSamples, 0.0);
    for (int u = 0; u < num_uses_; ++u) {
      x_buffers_.emplace_back(at(products.x_panels_size(u, static_cast<int>(num_packs))));
      delta_buffers_.emplace_back(at(products.delta_panels_size(u, static_cast<int>(num_packs))));
      x_panels_.push_back(x_buffers_.back().data());
      delta_panels_.push_back(delta_buffers_.back().data());
    }
  }

  // Values, adjoints and panels of these records. Returns the sum of the losses.
  double set_records(Records records) {
    num_packs_ = static_cast<int>(divide(records.count, kPackSamples));
    std::vector<double> losses(at(num_packs_));
    executor_.for_each(num_packs_, [&](Eigen::Index p) {
      const Eigen::Index first = p * kPackSamples;
      const Records own{records.data + first * records.stride,
                        std::min<Eigen::Index>(kPackSamples, records.count - first),
                        records.stride};
      losses[at(p)] = points_.with_point([&](PointSweep& sweep) {
        const double loss = sweep.run(own, point(p));
        if (p == 0 && !has_common_) layout_.read_common(sweep, common_);
        return loss;
      });
      copy_point(p);
    });
    has_common_ = true;
    executor_.for_each(num_uses_, [&](Eigen::Index u) {
      products_.fill_panels(static_cast<int>(u), rows(), x_panels_[at(u)], delta_panels_[at(u)]);
    });
    return std::accumulate(losses.begin(), losses.end(), 0.0);
  }

  // Tangents of a stage's directions, at the records that are set.
  void sweep(const Stage& stage) {
    const long num_blocks = stage.end_block - stage.first_block;
    mark_live(stage);
    executor_.for_each(num_blocks * num_packs_, [&](Eigen::Index i) {
      const long b = i / num_packs_;
      const long p = i % num_packs_;
      const DirectionBlock& block = planner_.blocks()[at(stage.first_block + b)];
      sweeps_.with_buffer([&](double* buffer) {
        double* const adjoints = sweep_block(block, p, buffer);
        for (int u = 0; u < num_uses_; ++u) {
          copy_tangents(layout_.rows(u).z,
                        adjoint_live_[at(u * num_blocks + b)],
                        layout_.z_rows(),
                        has_adjoint_,
                        adjoints,
                        adjoint_tangents_.data(),
                        block.count,
                        b,
                        p);
        }
        for (std::size_t k = 0; k < layout_.tangent_blocks().size(); ++k) {
          copy_tangents(layout_.tangent_blocks()[k],
                        tangent_live_[k * at(num_blocks) + at(b)],
                        layout_.tangent_rows(),
                        has_tangent_,
                        buffer,
                        value_tangents_.data(),
                        block.count,
                        b,
                        p);
        }
      });
    });
  }

  // Tangents of a group's directions and at once their products.
  void sweep_and_add(const Stage& stage, HessianTarget h) {
    executor_.for_each(stage.end_block - stage.first_block, [&](Eigen::Index i) {
      const DirectionBlock& block = planner_.blocks()[at(stage.first_block + i)];
      sweeps_.with_buffer([&](double* buffer) {
        sums_.with_buffer([&](double* sums) {
          std::fill_n(sums, direction_products_.sums_size(), 0.0);
          for (long p = 0; p < num_packs_; ++p) {
            const double* const adjoints = sweep_block(block, p, buffer);
            direction_products_.add_pack(block, point(p), buffer, adjoints, sums);
          }
          direction_products_.write(block, sums, h);
        });
      });
    });
  }

  void add_products(const Stage& stage, HessianTarget h, const std::function<void(long)>& done) {
    const ChunkRows chunk = rows();
    const TangentRows tangents{.first_block = stage.first_block,
                               .num_blocks = stage.end_block - stage.first_block,
                               .num_directions = num_directions_,
                               .adjoints = adjoint_tangents_.data(),
                               .tangents = value_tangents_.data(),
                               .adjoint_live = adjoint_live_.data(),
                               .tangent_live = tangent_live_.data()};
    for (auto first = stage.tasks.begin(); first != stage.tasks.end();) {
      const auto end = std::find_if(first, stage.tasks.end(), [&](const ProductTask& task) {
        return task.wave != first->wave;
      });
      executor_.for_each(end - first, [&](Eigen::Index i) {
        scratch_.with_buffer(
            [&](double* buffer) { products_.run(first[i], chunk, tangents, buffer, h); });
        done(first[i].multiply_adds);
      });
      first = end;
    }
  }

  void set_indices(std::span<const std::int32_t> indices) { indices_ = indices; }

 private:
  // Tangents to the buffer; returns those of adjoints, behind them.
  double* sweep_block(const DirectionBlock& block, long p, double* buffer) {
    double* const adjoints = buffer + long{layout_.num_tangents()} * kDirections * kPackSamples;
    kernels_.sweep({.nodes = nodes_,
                    .indices = indices_,
                    .plan = block.plan,
                    .seeds = block.seeds,
                    .point = point(p),
                    .tangents = buffer,
                    .adjoints = adjoints});
    return adjoints;
  }

  PackPoint point(long p) {
    double* const values = point_.data() + p * point_size_;
    double* const adjoints = values + long{layout_.num_values()} * kPackSamples;
    return {values, adjoints, adjoints + long{layout_.num_adjoints()} * kPackSamples};
  }

  long row_size() const { return long{num_packs_} * kPackSamples; }

  ChunkRows rows() const {
    return {num_packs_,
            values_.data(),
            adjoints_.data(),
            ones_.data(),
            zeros_.data(),
            x_panels_,
            delta_panels_};
  }

  // To rows of samples.
  void copy_point(long p) {
    const PackPoint from = point(p);
    const auto copy = [&](double* to, const double* pack) {
      std::memcpy(to + p * kPackSamples, pack, kPackSamples * sizeof(double));
    };
    double* row = values_.data();
    for (const GraphLayout::Source& source : layout_.value_rows()) {
      copy(row, source.point < 0 ? ones_.data() : from.values + long{source.point} * kPackSamples);
      row += row_size();
    }
    row = adjoints_.data();
    for (const GraphLayout::Source& source : layout_.z_rows()) {
      copy(row, from.adjoints + long{source.point} * kPackSamples);
      row += row_size();
    }
  }

  void mark_live(const Stage& stage) {
    const long num_blocks = stage.end_block - stage.first_block;
    num_directions_ = static_cast<int>(num_blocks) * kDirections;
    const auto mark_rows = [&](std::span<const GraphLayout::Source> sources,
                               bool is_adjoint,
                               std::vector<char>& is_there) {
      is_there.assign(at(num_blocks) * sources.size(), 0);
      for (long b = 0; b < num_blocks; ++b) {
        const DirectionBlock& block = planner_.blocks()[at(stage.first_block + b)];
        for (std::size_t r = 0; r < sources.size(); ++r) {
          is_there[at(b) * sources.size() + r] =
              sources[r].tangent >= 0 && planner_.is_in(block, sources[r].entry, is_adjoint);
        }
      }
    };
    // Positions with a row that is there.
    const auto mark =
        [&](const RowBlock& block, std::span<const char> is_there, std::vector<Interval>& live) {
          const std::size_t num_sources = is_there.size() / at(num_blocks);
          for (long b = 0; b < num_blocks; ++b) {
            const auto rows = is_there.subspan(at(b) * num_sources, num_sources)
                                  .subspan(at(block.first), at(block.positions * block.width));
            const auto first = std::find(rows.begin(), rows.end(), 1);
            const auto last = std::find(rows.rbegin(), rows.rend(), 1).base();
            if (first == rows.end()) {
              live.push_back({});
            } else {
              live.push_back({static_cast<int>((first - rows.begin()) / block.width),
                              static_cast<int>(divide(last - rows.begin(), block.width))});
            }
          }
        };
    mark_rows(layout_.z_rows(), true, has_adjoint_);
    mark_rows(layout_.tangent_rows(), false, has_tangent_);
    adjoint_live_.clear();
    for (int u = 0; u < num_uses_; ++u) mark(layout_.rows(u).z, has_adjoint_, adjoint_live_);
    tangent_live_.clear();
    for (const RowBlock& block : layout_.tangent_blocks()) mark(block, has_tangent_, tangent_live_);
  }

  // Of the live positions of a block of rows: what is not in its node's interval is 0.
  void copy_tangents(const RowBlock& block,
                     Interval live,
                     std::span<const GraphLayout::Source> sources,
                     const std::vector<char>& is_there,
                     const double* from,
                     double* to,
                     int count,
                     long b,
                     long p) const {
    for (int r = block.row(live.begin, 0); r < block.row(live.end, 0); ++r) {
      const GraphLayout::Source& source = sources[at(r)];
      double* row =
          to + (long{r} * num_directions_ + b * kDirections) * row_size() + p * kPackSamples;
      const double* packs = from + long{source.tangent} * kDirections * kPackSamples;
      const bool is_copied = is_there[at(b) * sources.size() + at(r)] != 0;
      for (int d = 0; d < count; ++d, row += row_size(), packs += kPackSamples) {
        if (is_copied) {
          std::memcpy(row, packs, kPackSamples * sizeof(double));
        } else {
          std::fill_n(row, kPackSamples, 0.0);
        }
      }
    }
  }

  const GraphLayout& layout_;
  const DirectionPlanner& planner_;
  const CurvatureProducts& products_;
  const DirectionProducts& direction_products_;
  const TangentKernels& kernels_;
  const Executor& executor_;
  std::span<const std::int32_t> indices_;
  long point_size_;
  int num_uses_;
  int num_packs_ = 0;
  int num_directions_ = 0;
  bool has_common_ = false;
  std::vector<double> common_;
  std::vector<SweepNode> nodes_;
  PointPool points_;
  AlignedBuffer point_;
  AlignedBuffer values_;
  AlignedBuffer adjoints_;
  AlignedBuffer ones_;
  AlignedBuffer zeros_;
  AlignedBuffer adjoint_tangents_;
  AlignedBuffer value_tangents_;
  std::vector<AlignedBuffer> x_buffers_;
  std::vector<AlignedBuffer> delta_buffers_;
  std::vector<double*> x_panels_;
  std::vector<double*> delta_panels_;
  std::vector<char> has_adjoint_;  // of each block and row
  std::vector<char> has_tangent_;
  std::vector<Interval> adjoint_live_;  // positions, of each use and block
  std::vector<Interval> tangent_live_;  // of each tangent block and block
  BufferPool sweeps_;
  BufferPool sums_;
  BufferPool scratch_;
};

// Edge of the squares in which a matrix is mirrored.
constexpr long kMirroredEdge = 32;

void SiteHessian::sum(std::span<const double> theta,
                      Records records,
                      const Executor& executor,
                      const ProgressCallback& progress,
                      Eigen::Ref<Eigen::MatrixXd> h) const {
  const long num_packs = divide(records.count, kPackSamples);
  const long chunk_packs = divide(num_packs, divide(num_packs, max_packs_));
  advise_huge_pages(h.data(), h.outerStride() * h.cols());
  executor.for_each(h.cols(), [&](Eigen::Index col) { h.col(col).setZero(); });
  HessianSum sum(*graph_,
                 kernels_,
                 layout_,
                 planner_,
                 uses_,
                 products_,
                 direction_products_,
                 point_size_,
                 chunk_packs,
                 stage_directions_,
                 theta,
                 executor);
  sum.set_indices(graph_->indices());
  long work = 0;
  for (const Stage& stage : stages_) work += stage.work;
  ProgressCounter counter(progress, work * records.count);
  double loss = 0;
  for (long first = 0; first < num_packs; first += chunk_packs) {
    const long packs = std::min(chunk_packs, num_packs - first);
    const long begin = first * kPackSamples;
    const long count = std::min<long>(packs * kPackSamples, records.count - begin);
    const auto advance = [&](long done) { counter.advance(done * count); };
    loss += sum.set_records({records.data + begin * records.stride, count, records.stride});
    for (const Stage& stage : stages_) {
      if (!stage.is_kept) {
        sum.sweep_and_add(stage, {h.data(), h.outerStride()});
        advance(stage.work);
        continue;
      }
      sum.sweep(stage);
      advance(stage.sweep_work);
      sum.add_products(stage, {h.data(), h.outerStride()}, advance);
    }
  }
  if (!std::isfinite(loss)) h(0, 0) = kNaN;
  for (int u = 0; u < static_cast<int>(uses_.uses.size()); ++u) {
    executor.for_each(uses_.uses[at(u)].units, [&](Eigen::Index unit) {
      products_.complete(u, static_cast<int>(unit), {h.data(), h.outerStride()});
    });
  }
  executor.for_each(divide(h.cols(), kMirroredEdge), [&](Eigen::Index edge) {
    const long from = edge * kMirroredEdge;
    const long end = std::min<long>(from + kMirroredEdge, h.cols());
    for (long row = from; row < h.rows(); row += kMirroredEdge) {
      const long end_row = std::min<long>(row + kMirroredEdge, h.rows());
      for (long col = from; col < end; ++col) {
        for (long r = std::max(row, col + 1); r < end_row; ++r) {
          h(col, r) = h(r, col) = h(r, col) + h(col, r);
        }
      }
    }
  });
}

}  // namespace

std::shared_ptr<const GraphHessian> graph_hessian(std::shared_ptr<const Graph> graph,
                                                  InstructionSet set) {
  require_supported(set);
  EntryNumbers entries(*graph);
  ParameterUses uses = find_parameter_uses(*graph, entries);
  if (!uses.is_supported) return nullptr;
  return std::make_shared<SiteHessian>(std::move(graph), std::move(entries), std::move(uses), set);
}

}  // namespace hesscope
