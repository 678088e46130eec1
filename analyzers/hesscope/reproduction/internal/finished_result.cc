// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/reproduction/internal/finished_result.h>

namespace hesscope::detail {

io::Overwrite overwrite_of_piece(const std::filesystem::path& output,
                                 io::Overwrite overwrite,
                                 const std::function<io::RunConfiguration()>& configuration) {
  if (!io::is_result_file(output)) return overwrite;
  const std::string difference = difference_of(output, configuration());
  if (difference.empty()) return io::Overwrite::kNothing;
  if (overwrite != io::Overwrite::kNothing) return overwrite;
  throw ConfigError(
      fmt::format("{}: is of other checkpoints or settings: it differs in {}; choose another "
                  "output, or replace it by `Overwrite::kOwnKind`",
                  output.string(),
                  difference));
}

}  // namespace hesscope::detail
