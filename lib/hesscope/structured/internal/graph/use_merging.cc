// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/structured/internal/graph/use_merging.h>

namespace hesscope::detail {
namespace {

// Merges repeated uses of the same parameters.
std::vector<ParameterUse> with_merged_positions(std::vector<ParameterUse> uses) {
  using Key = std::tuple<std::vector<int>, int, double, bool>;
  std::map<Key, std::size_t> known;
  std::vector<ParameterUse> merged;
  for (ParameterUse& use : uses) {
    const auto [place, is_new] =
        known.try_emplace(Key{use.theta, use.units, use.factor, use.is_per_unit}, merged.size());
    if (is_new) {
      merged.push_back(std::move(use));
      continue;
    }
    ParameterUse& first = merged[place->second];
    first.positions += use.positions;
    first.z.insert(first.z.end(), use.z.begin(), use.z.end());
    first.x.insert(first.x.end(), use.x.begin(), use.x.end());
  }
  return merged;
}

// Sorts by the entries to which they add, so that uses at the same positions have the same order.
void sort_positions(ParameterUse& use) {
  std::vector<int> order(at(use.positions));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int s, int t) {
    return use.z[at(long{s} * use.units)] < use.z[at(long{t} * use.units)];
  });
  const auto sorted = [&](const std::vector<int>& rows) {
    std::vector<int> result;
    const auto length = static_cast<std::ptrdiff_t>(rows.size() / order.size());
    for (const int t : order) {
      result.insert(result.end(), rows.begin() + t * length, rows.begin() + (t + 1) * length);
    }
    return result;
  };
  use.z = sorted(use.z);
  use.x = sorted(use.x);
}

std::vector<int> with_column(const std::vector<int>& matrix,
                             int cols,
                             const std::vector<int>& column) {
  std::vector<int> wider;
  for (std::size_t r = 0; r < column.size(); ++r) {
    const auto row = matrix.begin() + static_cast<std::ptrdiff_t>(r) * cols;
    wider.insert(wider.end(), row, row + cols);
    wider.push_back(column[r]);
  }
  return wider;
}

// Turns a bias into an additional input, 1, of the product to which it is added, unless its
// parameters are also among the weights.
void join_biases(std::vector<ParameterUse>& uses) {
  for (std::size_t b = 0; b < uses.size();) {
    const ParameterUse& bias = uses[b];
    const auto is_partner = [&](const ParameterUse& use) {
      return &use != &bias && !use.is_per_unit && !bias.is_per_unit && use.factor == bias.factor &&
             use.units == bias.units && use.z == bias.z && use.x.back() != kUnitInput &&
             bias.inputs == 1 && bias.x.back() == kUnitInput &&
             !has_repeats(with_column(use.theta, use.inputs, bias.theta));
    };
    const auto partner = std::find_if(uses.begin(), uses.end(), is_partner);
    if (partner == uses.end()) {
      ++b;
      continue;
    }
    partner->x =
        with_column(partner->x, partner->inputs, std::vector<int>(at(bias.positions), kUnitInput));
    partner->theta = with_column(partner->theta, partner->inputs, bias.theta);
    ++partner->inputs;
    uses.erase(uses.begin() + static_cast<std::ptrdiff_t>(b));
  }
}

}  // namespace

bool has_repeats(std::vector<int> theta) {
  std::ranges::sort(theta);
  const auto first = std::ranges::lower_bound(theta, 0);
  return std::adjacent_find(first, theta.end()) != theta.end();
}

std::vector<ParameterUse> merged(std::vector<ParameterUse> uses) {
  uses = with_merged_positions(std::move(uses));
  for (ParameterUse& use : uses) sort_positions(use);
  join_biases(uses);
  return uses;
}

}  // namespace hesscope::detail
