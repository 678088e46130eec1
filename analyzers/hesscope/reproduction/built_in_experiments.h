// SPDX-License-Identifier: BSD-3-Clause
//
// The experiments that the program carries: data/experiments/*.toml as they were when it was built.
#pragma once

#include <span>
#include <string_view>

namespace hesscope {

struct BuiltInExperiment {
  std::string_view name;  ///< of the file, without .toml
  std::string_view text;
};

/// By name, ascending.
std::span<const BuiltInExperiment> built_in_experiments();

}  // namespace hesscope
