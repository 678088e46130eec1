// SPDX-License-Identifier: BSD-3-Clause
//
// The experiments that the program carries: data/experiments/*.toml as they were when it was built,
// with the graphs and data that they name.
#pragma once

#include <span>
#include <string_view>

namespace hesscope {

struct BuiltInExperiment {
  std::string_view name;  ///< of the file, without .toml
  std::string_view text;
};

/// A file in the folder of an experiment's name beside it.
struct BuiltInFile {
  std::string_view name;  ///< as the experiment names it: "EXPERIMENT/FILE"
  std::string_view bytes;
};

/// By name, ascending.
std::span<const BuiltInExperiment> built_in_experiments();

/// The same.
std::span<const BuiltInFile> built_in_files();

}  // namespace hesscope
