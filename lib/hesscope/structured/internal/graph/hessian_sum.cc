// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <numeric>

#include <hesscope/structured/internal/graph/hessian_sum.h>
#include <hesscope/structured/internal/graph/indexing.h>

namespace hesscope::detail {

HessianSum::HessianSum(const GraphPlan& plan,
                       long num_packs,
                       int stage_directions,
                       std::span<const double> theta,
                       const Executor& executor)
    : plan_(plan),
      layout_(plan.layout),
      executor_(executor),
      common_(at(plan.layout.common_size())),
      nodes_(plan.layout.with_common(common_)),
      points_(*plan.graph, plan.kernels, {nodes_, plan.layout.one_hots(), plan.uses.varies}, theta),
      point_(at(num_packs * plan.point_size())),
      values_(at(std::ssize(plan.layout.value_rows()) * num_packs * kPackSamples)),
      adjoints_(at(std::ssize(plan.layout.z_rows()) * num_packs * kPackSamples)),
      ones_(at(num_packs * kPackSamples)),
      zeros_(at(num_packs * kPackSamples)),
      adjoint_tangents_(
          at(std::ssize(plan.layout.z_rows()) * stage_directions * num_packs * kPackSamples)),
      value_tangents_(
          at(std::ssize(plan.layout.tangent_rows()) * stage_directions * num_packs * kPackSamples)),
      sweeps_(at(2L * plan.layout.num_tangents() * kDirections * kPackSamples)),
      sums_(at(plan.direction_products.sums_size())),
      scratch_(at(CurvatureProducts::scratch_size(static_cast<int>(num_packs)))) {
  std::fill_n(ones_.data(), num_packs * kPackSamples, 1.0);
  std::fill_n(zeros_.data(), num_packs * kPackSamples, 0.0);
  for (int u = 0; u < plan_.num_uses(); ++u) {
    x_buffers_.emplace_back(at(plan.products.x_panels_size(u, static_cast<int>(num_packs))));
    x_panels_.push_back(x_buffers_.back().data());
  }
}

double HessianSum::set_records(Records records) {
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
  executor_.for_each(plan_.num_uses(), [&](Eigen::Index u) {
    plan_.products.fill_panels(static_cast<int>(u), rows(), x_panels_[at(u)]);
  });
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

void HessianSum::sweep(const Stage& stage) {
  const long num_blocks = stage.end_block - stage.first_block;
  mark_live(stage);
  executor_.for_each(num_blocks * num_packs_, [&](Eigen::Index i) {
    const long b = i / num_packs_;
    const long p = i % num_packs_;
    if (stage.leaves_out(b)) return;
    const DirectionBlock& block = plan_.planner.blocks()[at(stage.first_block + b)];
    sweeps_.with_buffer([&](double* buffer) {
      double* const adjoints = sweep_block(block, p, buffer);
      for (int u = 0; u < plan_.num_uses(); ++u) {
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

void HessianSum::sweep_and_add(const Stage& stage, HessianTarget h) {
  executor_.for_each(stage.end_block - stage.first_block, [&](Eigen::Index i) {
    if (stage.leaves_out(i)) return;
    const DirectionBlock& block = plan_.planner.blocks()[at(stage.first_block + i)];
    sweeps_.with_buffer([&](double* buffer) {
      sums_.with_buffer([&](double* sums) {
        std::fill_n(sums, plan_.direction_products.sums_size(), 0.0);
        for (long p = 0; p < num_packs_; ++p) {
          const double* const adjoints = sweep_block(block, p, buffer);
          plan_.direction_products.add_pack(block, point(p), buffer, adjoints, sums);
        }
        plan_.direction_products.write(block, sums, h);
      });
    });
  });
}

void HessianSum::add_products(const Stage& stage,
                              HessianTarget h,
                              const std::function<void(long)>& done) {
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
          [&](double* buffer) { plan_.products.run(first[i], chunk, tangents, buffer, h); });
      done(first[i].multiply_adds);
    });
    first = end;
  }
}

double* HessianSum::sweep_block(const DirectionBlock& block, long p, double* buffer) {
  double* const adjoints = buffer + long{layout_.num_tangents()} * kDirections * kPackSamples;
  plan_.kernels.sweep({.nodes = nodes_,
                       .indices = plan_.graph->indices(),
                       .plan = block.plan,
                       .seeds = block.seeds,
                       .point = point(p),
                       .tangents = buffer,
                       .adjoints = adjoints});
  return adjoints;
}

PackPoint HessianSum::point(long p) {
  double* const values = point_.data() + p * plan_.point_size();
  double* const adjoints = values + long{layout_.num_values()} * kPackSamples;
  return {values, adjoints, adjoints + long{layout_.num_adjoints()} * kPackSamples};
}

ChunkRows HessianSum::rows() const {
  return {num_packs_, values_.data(), adjoints_.data(), zeros_.data(), x_panels_};
}

void HessianSum::copy_point(long p) {
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

void HessianSum::mark_live(const Stage& stage) {
  const long num_blocks = stage.end_block - stage.first_block;
  num_directions_ = static_cast<int>(num_blocks) * kDirections;
  const auto mark_rows = [&](std::span<const GraphLayout::Source> sources,
                             bool is_adjoint,
                             std::vector<char>& is_there) {
    is_there.assign(at(num_blocks) * sources.size(), 0);
    for (long b = 0; b < num_blocks; ++b) {
      const DirectionBlock& block = plan_.planner.blocks()[at(stage.first_block + b)];
      for (std::size_t r = 0; r < sources.size(); ++r) {
        is_there[at(b) * sources.size() + r] =
            sources[r].tangent >= 0 && plan_.planner.is_in(block, sources[r].entry, is_adjoint);
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
  for (int u = 0; u < plan_.num_uses(); ++u) mark(layout_.rows(u).z, has_adjoint_, adjoint_live_);
  tangent_live_.clear();
  for (const RowBlock& block : layout_.tangent_blocks()) mark(block, has_tangent_, tangent_live_);
}

void HessianSum::copy_tangents(const RowBlock& block,
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

}  // namespace hesscope::detail
