// SPDX-License-Identifier: BSD-3-Clause
#include <optional>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/disjoint_sets.h>
#include <hesscope/spectra/internal/generator_sets.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;

// Calls use(parameter) for each row and column that has an entry.
template <typename Use>
void for_each_parameter(const AffineGenerator& generator, const Use& use) {
  for (const auto& entry : generator.linear) {
    use(entry.row);
    use(entry.col);
  }
  for (const auto& entry : generator.constant) use(entry.row);
}

// Calls use(family, index, generator) for all.
template <typename Use>
void for_each_generator(std::span<const Invariance> invariances, const Use& use) {
  for (std::size_t f = 0; f < invariances.size(); ++f) {
    for (Index k = 0; k < invariances[f].num_generators; ++k) {
      use(f, k, invariances[f].generator(k));
    }
  }
}

}  // namespace

std::vector<GeneratorSet> generator_sets(std::span<const Invariance> invariances, Index n) {
  DisjointSets connected(n);
  std::vector<bool> is_touched(static_cast<std::size_t>(n));
  std::vector<GeneratorSet::Member> members;
  std::vector<Index> touched_by_member;  // one parameter of each
  for_each_generator(invariances, [&](std::size_t f, Index k, const AffineGenerator& generator) {
    if (!generator.fits(n)) {
      throw PreconditionError(fmt::format(
          "explain_zero_modes: generator {} of '{}' has an entry outside of the {} parameters",
          k,
          invariances[f].name,
          n));
    }
    std::optional<Index> first;
    for_each_parameter(generator, [&](Index i) {
      is_touched[static_cast<std::size_t>(i)] = true;
      if (first) connected.join(i, *first);
      first = i;
    });
    if (!first) return;
    members.push_back({f, k});
    touched_by_member.push_back(*first);
  });

  std::vector<GeneratorSet> sets;
  std::vector<std::size_t> set_of_root(static_cast<std::size_t>(n));
  std::vector<bool> is_known(static_cast<std::size_t>(n));
  for (std::size_t m = 0; m < members.size(); ++m) {
    const auto root = static_cast<std::size_t>(connected.find(touched_by_member[m]));
    if (!is_known[root]) {
      is_known[root] = true;
      set_of_root[root] = sets.size();
      sets.emplace_back();
    }
    sets[set_of_root[root]].members.push_back(members[m]);
  }
  for (Index i = 0; i < n; ++i) {
    if (!is_touched[static_cast<std::size_t>(i)]) continue;
    sets[set_of_root[static_cast<std::size_t>(connected.find(i))]].parameters.push_back(i);
  }
  return sets;
}

}  // namespace hesscope::detail
