// SPDX-License-Identifier: BSD-3-Clause
//
// Parameters by the names that an optimiser uses for them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hesscope::detail {

struct NamedParameter {
  std::string name;         ///< ours
  std::string stored_name;  ///< as the file has it: "model_state_dict.net.0.weight"
  std::size_t block = 0;    ///< in the model's order
};

/// The block for each of `theirs`, if there is one. Their names are our names, or those in the file
/// without some leading keys (the same for all), where wrappers ("module.", "_orig_mod.", ...) are
/// ignored in both. Of these possibilities, the one that finds the most blocks is used.
std::vector<std::optional<std::size_t>> blocks_by_name(const std::vector<std::string>& theirs,
                                                       const std::vector<NamedParameter>& ours);

}  // namespace hesscope::detail
