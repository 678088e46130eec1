// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <numeric>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/structured/internal/graph/hessian_sum.h>

namespace hesscope::detail {
namespace {

// Bytes of points at which all blocks of directions are swept before the next points: they stay in
// a shared cache.
constexpr long kCachedPoints = 1L << 24;

// A copy whose size is a compile-time constant if it is that of a register.
void copy_lanes(double* to, const double* from, int lanes) {
  switch (lanes) {
    case 8:
      std::memcpy(to, from, 8 * sizeof(double));
      break;
    case 4:
      std::memcpy(to, from, 4 * sizeof(double));
      break;
    default:
      std::copy_n(from, lanes, to);
  }
}

}  // namespace

HessianSum::HessianSum(const GraphPlan& plan,
                       long num_packs,
                       long num_rows,
                       std::span<const double> theta,
                       const Executor& executor)
    : plan_(plan),
      layout_(plan.layout),
      executor_(executor),
      common_(at(plan.layout.common_size())),
      nodes_(plan.layout.with_common(common_)),
      points_(*plan.graph,
              plan.kernels,
              {nodes_, plan.layout.one_hots(), plan.uses.varies, plan.sweeps.chains},
              theta),
      point_(at(num_packs * plan.point_size())),
      values_(at(std::ssize(plan.layout.value_rows()) * row_step(num_packs))),
      adjoints_(at(std::ssize(plan.layout.z_rows()) * row_step(num_packs))),
      ones_(at(num_packs * kPackSamples)),
      zeros_(at(num_packs * kPackSamples)),
      kept_(at(num_rows * row_step(num_packs))),
      sweeps_(at(plan.sweep_size())),
      sums_(at(plan.direction_products.sums_size())),
      scratch_(at(CurvatureProducts::scratch_size(static_cast<int>(num_packs)))) {
  std::fill_n(ones_.data(), num_packs * kPackSamples, 1.0);
  std::fill_n(zeros_.data(), num_packs * kPackSamples, 0.0);
  for (int u = 0; u < plan_.num_uses(); ++u) {
    const auto take = [&](long size) {
      panel_buffers_.emplace_back(at(size));
      return panel_buffers_.back().data();
    };
    x_panels_.push_back(take(plan.products.x_panels_size(u, static_cast<int>(num_packs))));
    z_panels_.push_back(
        take(plan.direction_products.z_panels_size(u, static_cast<int>(num_packs))));
  }
}

double HessianSum::set_records(Records records) {
  num_samples_ = records.count;
  num_packs_ = static_cast<int>(ceil_div(records.count, kPackSamples));
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
    plan_.direction_products.fill_panels(static_cast<int>(u), rows(), z_panels_[at(u)]);
  });
  for (int u = 0; u < plan_.num_uses(); ++u) {
    executor_.for_each(plan_.products.num_pair_panels(u), [&](Eigen::Index panel) {
      plan_.products.fill_pair_panel(u, static_cast<int>(panel), rows(), x_panels_[at(u)]);
    });
  }
  return std::accumulate(losses.begin(), losses.end(), 0.0);
}

void HessianSum::sweep(const Stage& stage) {
  const long num_blocks = stage.end_block - stage.first_block;
  executor_.for_each(num_blocks * num_packs_, [&](Eigen::Index i) {
    const long b = i / num_packs_;
    const long p = i % num_packs_;
    if (stage.leaves_out(b)) return;
    const DirectionBlock& block = plan_.planner.blocks()[at(stage.first_block + b)];
    sweeps_.with_buffer([&](double* buffer) {
      for (int part = 0; part < num_parts(); ++part) {
        if (has_samples(p, part)) {
          keep(stage, b, p, part, buffer, sweep_block(block, p, part, buffer));
        } else {
          keep(stage, b, p, part, nullptr, nullptr);
        }
      }
    });
  });
}

void HessianSum::sweep_and_add(const Stage& stage, HessianTarget h) {
  const long point_bytes = plan_.point_size() * static_cast<long>(sizeof(double));
  const long step = std::max(1L, kCachedPoints / point_bytes);
  for (long first = 0; first < num_packs_; first += step) {
    const long end = std::min<long>(first + step, num_packs_);
    executor_.for_each(stage.end_block - stage.first_block, [&](Eigen::Index i) {
      if (stage.leaves_out(i)) return;
      sweep_and_add(plan_.planner.blocks()[at(stage.first_block + i)], first, end, h);
    });
  }
}

void HessianSum::sweep_and_add(const DirectionBlock& block, long first, long end, HessianTarget h) {
  sweeps_.with_buffer([&](double* buffer) {
    sums_.with_buffer([&](double* sums) {
      std::fill_n(sums, plan_.direction_products.sums_size(), 0.0);
      const ChunkRows chunk = rows();
      for (long p = first; p < end; ++p) {
        for (int part = 0; part < num_parts() && has_samples(p, part); ++part) {
          const double* const adjoints = sweep_block(block, p, part, buffer);
          plan_.direction_products.add_part(
              block, chunk, {point(p), p, part, buffer, adjoints}, sums);
        }
      }
      plan_.direction_products.write(block, sums, h);
    });
  });
}

void HessianSum::add_products(const Stage& stage,
                              HessianTarget h,
                              const std::function<void(long)>& done) {
  const ChunkRows chunk = rows();
  const auto num_blocks = at(stage.end_block - stage.first_block);
  const KeptTangents tangents{
      .first_block = stage.first_block,
      .blocks = std::span(plan_.kept).subspan(at(stage.first_block), num_blocks),
      .first_rows = stage.first_rows,
      .num_packs = num_packs_,
      .data = kept_.data()};
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

double* HessianSum::sweep_block(const DirectionBlock& block, long p, int part, double* buffer) {
  double* const adjoints = buffer + plan_.kernels.entries_size(layout_.num_tangents());
  plan_.kernels.sweep({.nodes = nodes_,
                       .indices = plan_.sweeps.indices,
                       .plan = block.plan,
                       .seeds = block.seeds,
                       .point = point(p),
                       .part = part,
                       .tangents = buffer,
                       .adjoints = adjoints,
                       .is_begun = reinterpret_cast<char*>(
                           adjoints + plan_.kernels.entries_size(layout_.num_tangent_bars()))});
  return adjoints;
}

PackPoint HessianSum::point(long p) {
  double* const values = point_.data() + p * plan_.point_size();
  double* const adjoints = values + long{layout_.num_values()} * kPackSamples;
  return {values, adjoints, adjoints + long{layout_.num_adjoints()} * kPackSamples};
}

ChunkRows HessianSum::rows() const {
  return {num_packs_, values_.data(), adjoints_.data(), zeros_.data(), x_panels_, z_panels_};
}

void HessianSum::copy_point(long p) {
  const PackPoint from = point(p);
  const auto copy = [&](double* to, const double* pack) {
    std::memcpy(to + p * kPackSamples, pack, kPackSamples * sizeof(double));
  };
  double* row = values_.data();
  for (const GraphLayout::Source& source : layout_.value_rows()) {
    copy(row, source.point < 0 ? ones_.data() : from.values + long{source.point} * kPackSamples);
    row += row_step(num_packs_);
  }
  row = adjoints_.data();
  for (const GraphLayout::Source& source : layout_.z_rows()) {
    copy(row, from.adjoints + long{source.point} * kPackSamples);
    row += row_step(num_packs_);
  }
}

void HessianSum::keep(
    const Stage& stage, long b, long p, int part, const double* tangents, const double* adjoints) {
  const int lanes = plan_.kernels.lanes;
  const DirectionBlock& block = plan_.planner.blocks()[at(stage.first_block + b)];
  const KeptRows& kept = plan_.kept[at(stage.first_block + b)];
  const KeptSteps steps = kept_steps(kept, num_packs_);
  double* const first = kept_.data() + stage.first_rows[at(b)] * row_step(num_packs_) +
                        p * steps.pack + long{part} * lanes;
  const auto copy = [&](const RowBlock& rows,
                        const LiveRows& live,
                        std::span<const GraphLayout::Source> sources,
                        bool is_adjoint) {
    for (int k = live.cols.begin; k < live.cols.end; ++k) {
      for (int t = live.positions.begin; t < live.positions.end; ++t) {
        const GraphLayout::Source& source = sources[at(rows.row(t, k))];
        double* to = first + live.row(t, k) * steps.row;
        const bool is_there =
            tangents != nullptr &&
            (live.is_complete ||
             (source.tangent >= 0 && plan_.planner.is_in(block, source.entry, is_adjoint)));
        const double* from = zeros_.data();
        if (is_there) {
          from = (is_adjoint ? adjoints : tangents) + plan_.kernels.entries_size(source.tangent);
        }
        const int from_step = is_there ? lanes : 0;
        for (int d = 0; d < block.count; ++d, to += steps.direction, from += from_step) {
          copy_lanes(to, from, lanes);
        }
      }
    }
  };
  for (int u = 0; u < plan_.num_uses(); ++u) {
    copy(layout_.rows(u).z, kept.adjoints[at(u)], layout_.z_rows(), true);
  }
  for (std::size_t k = 0; k < kept.tangents.size(); ++k) {
    copy(layout_.tangent_blocks()[k], kept.tangents[k], layout_.tangent_rows(), false);
  }
}

}  // namespace hesscope::detail
