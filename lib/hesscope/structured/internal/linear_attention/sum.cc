// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>

#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/structured/internal/linear_attention/sum.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;

// Limits of the memory for a group of packs, and of the number of packs in it: more packs make
// inner products longer, fewer stay in the cache.
constexpr double kGroupBytes = 96.0 * (1 << 20);
constexpr Index kMinPacks = 4;
constexpr Index kMaxPacks = 8;
constexpr Index kTasks = 16;

// Up to this size of H, each task sums groups into an H of its own; above it, groups are processed
// one after the other, and tasks share the packs and the rows of one group.
constexpr double kPartialBytes = 4.0 * (1 << 20);

// The minimal number of such tasks, if there are as many groups: enough for the threads of any
// machine, and so few that clearing and joining their H costs little.
constexpr Index kLeastTasks = 128;

}  // namespace

LinearAttentionGroup LinearAttentionSum::group_of(const LinearAttentionNetwork& network,
                                                  Index packs) const {
  LinearAttentionGroup group{};
  static_cast<LinearAttentionNetwork&>(group) = network;
  group.packs = static_cast<int>(packs);
  return group;
}

LinearAttentionSum::PackSizes LinearAttentionSum::pack_sizes(
    const LinearAttentionGroup& group) const {
  const auto e = static_cast<std::size_t>(sizes_.extent);
  const auto m = static_cast<std::size_t>(sizes_.trained);
  const auto s = e * (e + 1) / 2 + e;
  const auto lanes = static_cast<std::size_t>(kernels_->lanes);
  const bool has_inner_layers = sizes_.layers > 1;
  return {static_cast<std::size_t>(kernels_->state_size(group)),
          lanes * static_cast<std::size_t>(sizes_.num_parameters()),
          lanes * s * s,
          has_inner_layers ? lanes * e * e * e * e : 0,
          has_inner_layers ? lanes * 2 * m * m * s : 0};
}

void LinearAttentionSum::place(LinearAttentionGroup& group, double* memory) const {
  const PackSizes size = pack_sizes(group);
  const auto packs = static_cast<std::size_t>(group.packs);
  group.states = memory;
  group.gradients = group.states + packs * size.states;
  group.curvature = group.gradients + packs * size.gradients;
  group.second = group.curvature + packs * size.curvature;
  group.mixed = group.second + packs * size.second;
}

std::size_t LinearAttentionSum::scratch_size(const LinearAttentionGroup& group) const {
  return static_cast<std::size_t>(
      std::max(kernels_->pack_scratch_size(group), kernels_->row_scratch_size(group)));
}

// Depends only on the model, the number of prompts and the instruction set, since it determines the
// order of the sums.
Index LinearAttentionSum::packs_in_group(Index num_packs) const {
  const LinearAttentionGroup one = group_of(sizes_.network(), 1);
  const double bytes = static_cast<double>(pack_sizes(one).total()) * sizeof(double);
  const Index most = std::clamp(static_cast<Index>(kGroupBytes / bytes), Index{1}, kMaxPacks);
  // Even few prompts are divided into tasks for many threads.
  const Index fair = groups_are_tasks() ? ceil_div(num_packs, kTasks) : num_packs;
  return std::min(std::clamp(fair, std::min(kMinPacks, most), most), num_packs);
}

bool LinearAttentionSum::groups_are_tasks() const {
  const auto n = static_cast<double>(sizes_.num_parameters());
  return n * n * sizeof(double) <= kPartialBytes;
}

double LinearAttentionSum::workspace_bytes(int num_threads) const {
  const LinearAttentionGroup group =
      group_of(sizes_.network(), packs_in_group(std::numeric_limits<int>::max()));
  const double memory = static_cast<double>(pack_sizes(group).total()) * group.packs;
  const auto scratch = static_cast<double>(scratch_size(group));
  constexpr double kLevels = 32;  // upper limit for the tree that joins partial sums
  const double doubles = groups_are_tasks()
                             ? num_threads * (memory + scratch) +
                                   (num_threads + kLevels) * kPartialBytes / sizeof(double)
                             : memory + num_threads * scratch;
  return doubles * sizeof(double);
}

void LinearAttentionSum::compute(const LinearAttentionWeights& weights,
                                 Records records,
                                 const Executor& executor,
                                 const ProgressCallback& progress,
                                 Eigen::Ref<Eigen::MatrixXd> h,
                                 Eigen::VectorXd* gradient) const {
  const Index n = sizes_.num_parameters();
  const Index lanes = kernels_->lanes;
  const Index num_packs = ceil_div(records.count, lanes);
  const Index packs_at_once = packs_in_group(num_packs);
  const Index num_groups = ceil_div(num_packs, packs_at_once);
  const LinearAttentionGroup full = group_of(sizes_.network(weights), packs_at_once);
  BufferPool memory(static_cast<std::size_t>(packs_at_once) * pack_sizes(full).total());
  BufferPool scratch(scratch_size(full));
  const bool shares_groups = groups_are_tasks();
  const std::vector<RowUnit> units = row_units();
  const auto num_units = std::ssize(units);
  const auto row_of = [&](Index unit) {
    return unit == num_units ? n : units[static_cast<std::size_t>(unit)].first;
  };
  const auto work_of = [&](Index unit) { return units[static_cast<std::size_t>(unit)].work; };
  const BlockRange own =
      shares_groups ? BlockRange{0, num_units} : executor.own(num_units, work_of);
  const RowPlan plan = plan_rows({row_of(own.begin), row_of(own.end)});
  ProgressCounter counter(progress, plan.work * records.count);

  const auto add =
      [&](Index i, double* h_data, Index ldh, double* gradient_data, const ForEach& for_each) {
        LinearAttentionGroup group = full;
        group.packs = static_cast<int>(std::min(packs_at_once, num_packs - i * packs_at_once));
        group.h = h_data;
        group.ldh = ldh;
        const Index first = i * packs_at_once * lanes;
        const Index count = std::min(group.packs * lanes, records.count - first);
        memory.with_buffer([&](double* buffer) {
          place(group, buffer);
          add_group(group,
                    plan,
                    {records.data + first * records.stride, count, records.stride},
                    for_each,
                    scratch,
                    counter);
          if (gradient_data != nullptr) kernels_->weighted_gradient(group, gradient_data);
        });
      };

  if (shares_groups) {
    const ForEach on_this_thread = [](Index count, const std::function<void(Index)>& body) {
      for (Index i = 0; i < count; ++i) body(i);
    };
    Eigen::MatrixXd total(n, n + 1);  // H, then the gradient
    const auto size = static_cast<std::size_t>(total.size());
    const Index groups_in_task = std::max(Index{1}, num_groups / kLeastTasks);
    const Index num_tasks = ceil_div(num_groups, groups_in_task);
    executor.sum(num_tasks, {total.data(), size}, [&](Index task, std::span<double> partial) {
      double* partial_gradient = gradient != nullptr ? partial.data() + n * n : nullptr;
      const Index end = std::min((task + 1) * groups_in_task, num_groups);
      for (Index i = task * groups_in_task; i < end; ++i) {
        add(i, partial.data(), n, partial_gradient, on_this_thread);
      }
    });
    h = total.leftCols(n);
    if (gradient != nullptr) *gradient = total.col(n);
    return;
  }
  const ForEach on_all_threads = [&](Index count, const std::function<void(Index)>& body) {
    executor.for_each(count, body);
  };
  h.setZero();
  if (gradient != nullptr) gradient->setZero(n);
  double* gradient_data = gradient != nullptr ? gradient->data() : nullptr;
  const auto add_all = [&] {
    report(progress, 0);  // with many ranks, some may have no task to report
    for (Index i = 0; i < num_groups; ++i) {
      add(i, h.data(), h.outerStride(), gradient_data, on_all_threads);
    }
  };
  // A row of the kernels, up to the diagonal, is a column here.
  const auto columns = [&](Index begin, Index end) {
    const Index first = row_of(begin);
    return MatrixPart{
        h.data() + first * h.outerStride(), row_of(end), row_of(end) - first, h.outerStride()};
  };
  executor.together(add_all, num_units, columns, work_of);
}

Index LinearAttentionSum::first_p(Index layer) const {
  return layer * 2 * static_cast<Index>(sizes_.trained) * static_cast<Index>(sizes_.trained);
}

Index LinearAttentionSum::first_q(Index layer) const {
  return first_p(layer) + static_cast<Index>(sizes_.trained) * static_cast<Index>(sizes_.trained);
}

std::vector<LinearAttentionSum::RowUnit> LinearAttentionSum::row_units() const {
  const auto m = static_cast<Index>(sizes_.trained);
  const auto last = static_cast<Index>(sizes_.layers) - 1;
  const Index num_blocks = (m + kernels_->max_rows - 1) / kernels_->max_rows;
  const bool has_last_p = last > 0 && sizes_.trained == sizes_.extent;
  std::vector<RowUnit> units;
  for (Index layer = 0; layer <= last; ++layer) {
    const auto layers_passed = static_cast<double>(layer + 1);
    const bool is_last = layer == last;
    for (Index a = 0; a < m; ++a) {  // rows P_ab; in the last layer only for the last a
      const bool has_tasks = !is_last || (has_last_p && a == m - 1);
      units.push_back({first_p(layer) + a * m,
                       has_tasks ? layers_passed * static_cast<double>(num_blocks) : 0});
    }
    const Index rows_at_once = is_last ? 1 : kernels_->max_rows;
    for (Index a = 0; a < m; a += rows_at_once) {  // rows Q_ab
      units.push_back({first_q(layer) + a * m,
                       is_last ? layers_passed : layers_passed * static_cast<double>(m)});
    }
  }
  return units;
}

LinearAttentionSum::RowPlan LinearAttentionSum::plan_rows(const BlockRange& rows) const {
  const int m = static_cast<int>(sizes_.trained);
  const int last = static_cast<int>(sizes_.layers) - 1;
  RowPlan plan;
  plan.rows = rows;
  const auto is_own = [&](Index row) { return rows.begin <= row && row < rows.end; };
  const auto add =
      [&](std::vector<LinearAttentionRows>& tasks, int layer, LinearAttentionRows task) {
        tasks.push_back(task);
        plan.work += layer + 1;
      };
  // Calls body(first, count) for the values of an index that tasks process together.
  const auto for_blocks = [&](auto body) {
    for (int first = 0; first < m; first += kernels_->max_rows) {
      body(first, std::min(kernels_->max_rows, m - first));
    }
  };

  for (int a = 0; a < m; ++a) {
    if (!is_own(first_q(last) + Index{a} * m)) continue;
    add(plan.first_terms, last, {LinearAttentionRows::kLastQ, a, 0, 1});
  }
  if (last == 0) return plan;
  if (!plan.first_terms.empty()) {
    for (int b = 0; b < m; ++b) {
      add(plan.others_of_last, last, {LinearAttentionRows::kLastQState, b, 0, 1});
    }
  }
  if (sizes_.trained == sizes_.extent && is_own(first_p(last) + Index{m - 1} * m)) {
    for_blocks([&](int first, int count) {
      add(plan.others_of_last, last, {LinearAttentionRows::kLastP, 0, first, count});
    });
  }
  plan.inner.resize(static_cast<std::size_t>(last));
  for (int layer = 0; layer < last; ++layer) {
    std::vector<LinearAttentionRows>& tasks = plan.inner[static_cast<std::size_t>(layer)];
    for (int b = 0; b < m; ++b) {
      for_blocks([&](int first, int count) {
        if (!is_own(first_q(layer) + Index{first} * m)) return;
        add(tasks, layer, {LinearAttentionRows::kQ, b, first, count});
      });
    }
    for (int a = 0; a < m; ++a) {
      if (!is_own(first_p(layer) + Index{a} * m)) continue;
      for_blocks([&](int first, int count) {
        add(tasks, layer, {LinearAttentionRows::kP, a, first, count});
      });
    }
  }
  return plan;
}

void LinearAttentionSum::add_group(const LinearAttentionGroup& group,
                                   const RowPlan& plan,
                                   Records records,
                                   const ForEach& for_each,
                                   BufferPool& scratch,
                                   ProgressCounter& counter) const {
  const int last = group.layers - 1;
  const auto for_each_pack = [&](auto body) {
    for_each(group.packs, [&](Index pack) {
      scratch.with_buffer([&](double* buffer) { body(static_cast<int>(pack), buffer); });
    });
  };
  const auto for_rows = [&](int layer, const std::vector<LinearAttentionRows>& tasks) {
    for_each(std::ssize(tasks), [&](Index i) {
      scratch.with_buffer([&](double* buffer) {
        kernels_->rows(group, layer, tasks[static_cast<std::size_t>(i)], buffer);
      });
      counter.advance((layer + 1) * records.count);
    });
  };

  for_each_pack([&](int pack, double* buffer) {
    forward_reverse(group, pack, records, buffer);
    kernels_->last_layer(group, pack);
  });
  const Index rows_at_once = kernels_->max_rows;
  const Index num_blocks = ceil_div(plan.rows.size(), rows_at_once);
  for_each(num_blocks, [&](Index i) {
    // The longest rows first.
    const Index row = plan.rows.begin + (num_blocks - 1 - i) * rows_at_once;
    kernels_->outer_products(group,
                             static_cast<int>(row),
                             static_cast<int>(std::min(rows_at_once, plan.rows.end - row)));
  });

  for_rows(last, plan.first_terms);
  for_rows(last, plan.others_of_last);
  for (int layer = last - 1; layer >= 0; --layer) {
    for_each_pack([&](int pack, double* buffer) { kernels_->layer(group, pack, layer, buffer); });
    for_rows(layer, plan.inner[static_cast<std::size_t>(layer)]);
  }
}

// Lanes without a prompt repeat the last prompt, inactive.
void LinearAttentionSum::forward_reverse(const LinearAttentionGroup& group,
                                         int pack,
                                         Records records,
                                         double* scratch) const {
  constexpr int kMaxLanes = 8;
  const double* prompts[kMaxLanes];
  double targets[kMaxLanes];
  double active[kMaxLanes];
  for (int lane = 0; lane < kernels_->lanes; ++lane) {
    const Index index = Index{pack} * kernels_->lanes + lane;
    const double* record = records.data + std::min(index, records.count - 1) * records.stride;
    prompts[lane] = record + sizes_.z_offset;
    targets[lane] = record[sizes_.target_offset];
    active[lane] = index < records.count ? 1.0 : 0.0;
  }
  kernels_->forward_reverse(group, pack, prompts, targets, active, scratch);
}

}  // namespace hesscope::detail
