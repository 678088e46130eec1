// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/analyzers/result_root.h>
#include <hesscope/core/error.h>
#include <hesscope/experiments/finished_result.h>
#include <hesscope/io/file_lock.h>

namespace hesscope::detail {

bool is_finished(const std::filesystem::path& output,
                 bool overwrite,
                 const std::function<io::RunConfiguration()>& configuration,
                 std::vector<std::string>& warnings) {
  if (!std::filesystem::exists(output) || io::has_units(output)) return false;
  if (is_result_of(output, configuration())) {
    const io::FileLock lock(output);
    io::remove_remnants(output);
    if (!is_conclusive_result(output)) {
      warnings.push_back(fmt::format(
          "{}: was finished before; some of its numbers are missing: variables NAME_status say why",
          output.string()));
    }
    return true;
  }
  if (overwrite) return false;
  throw ConfigError(fmt::format(
      "{}: is of other checkpoints or settings; choose another output, or replace it by --force",
      output.string()));
}

}  // namespace hesscope::detail
