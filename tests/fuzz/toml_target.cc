// SPDX-License-Identifier: BSD-3-Clause
#include <string_view>

#include <hesscope/core/error.h>
#include <hesscope/problem/experiment_file.h>
#include <hesscope/problem/internal/experiment_reading.h>
#include <hesscope/problem/internal/toml_tables.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/problem/tensor_map_file.h>

#include "fuzz/memory_file.h"

namespace hesscope::fuzz {
namespace {

template <typename Read>
void try_reading(const Read& read) {
  try {
    read();
  } catch (const ConfigError&) {
  }
}

}  // namespace

void fuzz_toml(Input input) {
  static MemoryFile file;
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  try {
    const detail::TomlTable root = detail::parse_toml(text, "input.toml");
    try_reading([&] { detail::experiment_from(root, "input.toml").problem_toml("folder"); });
    // What only these two readers know; either parses the text once more.
    const bool is_problem = root.tables.contains("model") && !root.table_lists.contains("run");
    const bool is_map = root.tables.contains("map");
    if (!is_problem && !is_map) return;
    file.assign(input);
    if (is_problem) try_reading([&] { read_problem_file(file.path()).resolved_toml(); });
    if (is_map) try_reading([&] { resolved_toml(read_tensor_map(file.path())); });
  } catch (const ConfigError&) {
  }
}

}  // namespace hesscope::fuzz
