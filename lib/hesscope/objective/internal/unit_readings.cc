// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include <hesscope/objective/internal/unit_readings.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;

// Queries, keys and values, or what gates there are, as heads or channels.
constexpr Index kMaxWideParts = 4;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Where the swap of the first two units takes each parameter of the view's tensor, counted within
// it.
std::vector<Index> swap_of(const UnitView& view) {
  std::vector<Index> to(at(view.block->size));
  std::iota(to.begin(), to.end(), Index{0});
  for (Index f = 0; f < view.front; ++f) {
    for (Index b = 0; b < view.back; ++b) {
      const Index first = view.entry(f, 0, b) - view.block->offset;
      const Index second = view.entry(f, 1, b) - view.block->offset;
      std::swap(to[at(first)], to[at(second)]);
    }
  }
  return to;
}

// Whether a direction can change its sign under one swap and keep it under the other: the swaps
// commute, and undo each other nowhere.
bool are_independent(const UnitCandidate& a, const UnitCandidate& b) {
  for (Index i = 0; i < a.view.block->size; ++i) {
    const Index by_a = a.swap[at(i)];
    const Index by_b = b.swap[at(i)];
    if (by_a == i || by_b == i) {
      if (a.swap[at(by_b)] != b.swap[at(by_a)]) return false;
      continue;
    }
    if (a.swap[at(by_b)] != b.swap[at(by_a)] || a.swap[at(by_b)] == i) return false;
  }
  return true;
}

// The readings of one tensor by a width of its units: each candidate of that width is in one at
// least, with all of it that are independent of it and of those taken before, and then with others.
std::vector<UnitReading> readings_of(const std::vector<UnitCandidate>& candidates, Index width) {
  std::vector<UnitReading> readings;
  std::vector<bool> is_taken(candidates.size(), false);
  for (std::size_t first = 0; first < candidates.size(); ++first) {
    if (is_taken[first] || candidates[first].view.width != width) continue;
    UnitReading reading = {candidates[first]};
    is_taken[first] = true;
    const auto take = [&](bool of_width) {
      for (std::size_t k = 0; k < candidates.size(); ++k) {
        if (k == first || (candidates[k].view.width == width) != of_width) continue;
        const bool fits = std::ranges::all_of(reading, [&](const UnitCandidate& other) {
          return are_independent(candidates[k], other);
        });
        if (!fits) continue;
        reading.push_back(candidates[k]);
        is_taken[k] = true;
      }
    };
    take(true);
    take(false);
    readings.push_back(std::move(reading));
  }
  return readings;
}

}  // namespace

Eigen::VectorXd UnitCandidate::swapped(const Eigen::VectorXd& theta) const {
  Eigen::VectorXd result = theta;
  const Index offset = view.block->offset;
  for (Index i = 0; i < view.block->size; ++i) {
    result[offset + i] = theta[offset + swap[at(i)]];
  }
  return result;
}

std::vector<UnitReading> unit_readings(std::span<const ParameterBlock> blocks, Index units) {
  using ByWidth = std::map<Index, std::vector<UnitReading>>;
  std::vector<ByWidth> of_blocks;
  std::map<Index, std::size_t> counts;  // of readings, by width
  const std::vector<UnitView> views = unit_views(blocks, units, kMaxWideParts);
  for (const ParameterBlock& block : blocks) {
    std::vector<UnitCandidate> candidates;
    for (const UnitView& view : views) {
      if (view.block == &block) candidates.push_back({view, swap_of(view)});
    }
    if (candidates.empty()) continue;
    ByWidth by_width;
    for (const UnitCandidate& candidate : candidates) {
      const Index width = candidate.view.width;
      if (by_width.contains(width)) continue;
      by_width[width] = readings_of(candidates, width);
      counts[width] = std::max(counts[width], by_width[width].size());
    }
    of_blocks.push_back(std::move(by_width));
  }
  std::vector<UnitReading> readings;
  for (const auto& [width, count] : counts) {
    for (std::size_t r = 0; r < count; ++r) {
      UnitReading all;
      for (const ByWidth& by_width : of_blocks) {
        const auto own = by_width.find(width);
        const auto& choice = own == by_width.end() ? by_width.begin()->second : own->second;
        const UnitReading& chosen = choice[r < choice.size() ? r : 0];
        all.insert(all.end(), chosen.begin(), chosen.end());
      }
      readings.push_back(std::move(all));
    }
  }
  return readings;
}

}  // namespace hesscope::detail
