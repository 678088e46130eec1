// SPDX-License-Identifier: BSD-3-Clause
//
// Parameters by the names that an optimiser has for them.
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

/// The block of each of `theirs`, if it is one. Theirs are our names, or the file's without some
/// leading keys (the same for all), wrappers ("module.", "_orig_mod.", ...) left out of both: of
/// these ways the one by which most are found.
std::vector<std::optional<std::size_t>> blocks_by_name(const std::vector<std::string>& theirs,
                                                       const std::vector<NamedParameter>& ours);

}  // namespace hesscope::detail
