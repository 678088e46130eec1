// SPDX-License-Identifier: BSD-3-Clause
#include "result_input.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/distinct_names.h>
#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/unit_folder.h>
#include <hesscope/tensors/format_registry.h>
#include <hesscope/tensors/tensor_file.h>

#include "command.h"
#include "run_options.h"

namespace hesscope::cli {
namespace {

[[noreturn]] void refuse_no_result(const std::string& path) {
  const io::FormatKind* const format =
      io::recognised_format(io::InputFile(path, "a hesscope result"));
  if (format == nullptr) {
    const bool is_toml = std::filesystem::path(path).extension() == ".toml";
    throw InputError(fmt::format(
        "{}: is not a hesscope result{}",
        path,
        is_toml ? " but a TOML file, as problem files are; hesscope analyze makes results" : ""));
  }
  if (format->name == "hdf5") io::open_tensor_file(path);  // reports how a file is damaged
  throw InputError(
      fmt::format("{}: is not a hesscope result but of the format {} ({}); hesscope analyze makes "
                  "results of checkpoints",
                  path,
                  format->name,
                  format->summary));
}

}  // namespace

void require_complete(const std::string& path) {
  std::error_code none;
  if (std::filesystem::exists(path, none) || !io::has_units(path)) return;
  throw InputError(fmt::format(
      "{}: is not complete: {}.units has its finished parts, and the command that was to "
      "write it continues from there",
      path,
      path));
}

io::ResultReader open_result(const std::string& path) {
  require_complete(path);
  std::error_code none;
  if (std::filesystem::exists(path, none) && !io::is_result_file(path)) refuse_no_result(path);
  return io::ResultReader(path);
}

OpenResults open_results(const std::vector<std::string>& files, std::vector<std::string> labels) {
  if (labels.empty()) {
    const std::vector<std::filesystem::path> paths(files.begin(), files.end());
    labels = distinct_names(paths, false);
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      std::error_code none;  // a missing file is reported when it is opened
      if (!std::filesystem::equivalent(files[k], files[i], none)) continue;
      throw UsageError(fmt::format("{}: is given twice", files[i]));
    }
  }
  OpenResults results;
  results.readers.reserve(files.size());
  for (const std::string& file : files) results.readers.push_back(open_result(file));
  for (std::size_t i = 0; i < files.size(); ++i) {
    results.sources.push_back({&results.readers[i], std::move(labels[i])});
  }
  return results;
}

void require_all_labels(const std::vector<std::string>& files,
                        const std::vector<std::string>& labels) {
  if (labels.empty() || labels.size() == files.size()) return;
  throw UsageError(fmt::format("--label must be given once for each of the {} results, got {}",
                               files.size(),
                               labels.size()));
}

void require_no_result(const std::string& output, const std::vector<std::string>& files) {
  require_apart(output, {files.begin(), files.end()}, "a result itself");
}

}  // namespace hesscope::cli
