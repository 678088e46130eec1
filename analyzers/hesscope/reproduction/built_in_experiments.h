// SPDX-License-Identifier: BSD-3-Clause
//
// The experiments included in the program: data/experiments/*.toml as they were when it was built,
// with the graphs and data that they name.
#pragma once

#include <span>
#include <string_view>

namespace hesscope {

struct BuiltInExperiment {
  std::string_view name;  ///< of the file, without .toml
  std::string_view text;
};

/// A file in the folder with the experiment's name, which is next to the experiment.
struct BuiltInFile {
  std::string_view name;  ///< as the experiment names it: "EXPERIMENT/FILE"
  std::string_view bytes;
};

/// By name, ascending.
std::span<const BuiltInExperiment> built_in_experiments();

/// By name, ascending.
std::span<const BuiltInFile> built_in_files();

}  // namespace hesscope
