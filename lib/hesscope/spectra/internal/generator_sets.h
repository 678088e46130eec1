// SPDX-License-Identifier: BSD-3-Clause
//
// Generators of invariances, sorted into sets that share no parameter.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/invariance.h>

namespace hesscope::detail {

struct GeneratorSet {
  struct Member {
    std::size_t family;
    Eigen::Index index;  // in the family
  };

  std::vector<Eigen::Index> parameters;  // ascending
  std::vector<Member> members;           // ordered by family, then index
};

/// The connected components of the generators: two are connected if they have an entry of B or b in
/// the row or column of the same parameter. Ordered by first generator; generators without entries
/// are omitted. @throws PreconditionError if a generator has entries outside [0, n).
std::vector<GeneratorSet> generator_sets(std::span<const Invariance> invariances, Eigen::Index n);

}  // namespace hesscope::detail
