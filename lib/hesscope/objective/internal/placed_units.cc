// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/ascii.h>
#include <hesscope/objective/internal/placed_units.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;

// By what stands behind the number: its tensors by number.
using Numbered = std::map<std::string, std::map<std::string, const ParameterBlock*>>;

// By what stands in front of the number.
std::map<std::string, Numbered> numbered_names(std::span<const ParameterBlock> blocks) {
  std::map<std::string, Numbered> found;
  for (const ParameterBlock& block : blocks) {
    for (std::size_t begin = 0; begin < block.name.size();) {
      const std::size_t end = std::min(block.name.find('.', begin), block.name.size());
      const std::string number = block.name.substr(begin, end - begin);
      if (is_all_digits(number)) {
        found[block.name.substr(0, begin)][block.name.substr(end)][number] = &block;
      }
      begin = end + 1;
    }
  }
  return found;
}

bool are_alike(const Numbered& tensors) {
  const auto& first = tensors.begin()->second;
  if (first.size() < 2) return false;
  const auto number_of = [](const auto& one) -> const std::string& { return one.first; };
  return std::ranges::all_of(tensors, [&](const auto& each) {
    const auto& by_number = each.second;
    const auto& shape = by_number.begin()->second->shape;
    return std::ranges::equal(by_number, first, {}, number_of, number_of) &&
           std::ranges::all_of(by_number,
                               [&](const auto& one) { return one.second->shape == shape; });
  });
}

}  // namespace

InterchangeableUnits units_on(std::span<const UnitView* const> views) {
  InterchangeableUnits units;
  std::vector<std::string> names;
  for (const UnitView* view : views) {
    if (names.empty() || names.back() != view->block->name) names.push_back(view->block->name);
    InterchangeableUnits::Axis axis(view->units, view->front * view->back);
    for (Index u = 0; u < view->units; ++u) {
      for (Index f = 0; f < view->front; ++f) {
        for (Index b = 0; b < view->back; ++b) axis(u, f * view->back + b) = view->entry(f, u, b);
      }
    }
    units.axes.push_back(std::move(axis));
  }
  units.name = fmt::format("{}", fmt::join(names, ", "));
  return units;
}

std::vector<InterchangeableUnits> numbered_units(std::span<const ParameterBlock> blocks) {
  std::vector<InterchangeableUnits> all;
  for (const auto& [front, tensors] : numbered_names(blocks)) {
    if (!are_alike(tensors)) continue;
    InterchangeableUnits units;
    std::vector<std::string> names;
    for (const auto& [behind, by_number] : tensors) {
      names.push_back(fmt::format("{}*{}", front, behind));
      const Index size = by_number.begin()->second->size;
      InterchangeableUnits::Axis axis(static_cast<Index>(by_number.size()), size);
      Index unit = 0;
      for (const auto& [number, block] : by_number) {
        axis.row(unit++) =
            Eigen::VectorX<Index>::LinSpaced(size, block->offset, block->offset + size - 1);
      }
      units.axes.push_back(std::move(axis));
    }
    units.name = fmt::format("{}", fmt::join(names, ", "));
    all.push_back(std::move(units));
  }
  return all;
}

std::vector<InterchangeableUnits> single_units(
    std::span<const ParameterBlock> blocks,
    const std::function<bool(const InterchangeableUnits&)>& may_change_sign) {
  constexpr std::size_t kMost = 10;
  const std::vector<UnitView> all = unit_views(blocks, 1);
  std::vector<const UnitView*> views;
  for (const UnitView& view : all) {
    const bool is_whole = view.front * view.back == view.block->size;
    const bool has_one = std::ranges::find(view.block->shape, 1) != view.block->shape.end();
    if (is_whole && has_one) views.push_back(&view);
  }
  if (views.size() > kMost) return {};
  std::vector<std::uint64_t> subsets((std::uint64_t{1} << views.size()) - 1);
  std::iota(subsets.begin(), subsets.end(), std::uint64_t{1});
  std::ranges::stable_sort(subsets, {}, [](std::uint64_t subset) { return std::popcount(subset); });
  std::vector<InterchangeableUnits> found;
  std::uint64_t taken = 0;
  for (const std::uint64_t subset : subsets) {
    if ((subset & taken) != 0) continue;
    std::vector<const UnitView*> chosen;
    for (std::size_t k = 0; k < views.size(); ++k) {
      if ((subset >> k & 1) != 0) chosen.push_back(views[k]);
    }
    InterchangeableUnits unit = units_on(chosen);
    unit.flips.assign(unit.axes.size(), true);
    if (!may_change_sign(unit)) continue;
    taken |= subset;
    found.push_back(std::move(unit));
  }
  return found;
}

}  // namespace hesscope::detail
