// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analyzers/checkpoints.h>
#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/io/format_registry.h>

namespace hesscope {
namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> step_of(const fs::path& path) {
  constexpr std::string_view kPrefix = "step-";
  const std::string name = path.filename().string();
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const char* first = name.data() + kPrefix.size();
  const char* last = name.data() + name.size();
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(first, last, step);
  if (error != std::errc() || end == first || (end != last && *end != '.') || *first == '-') {
    return std::nullopt;
  }
  return step;
}

bool is_named_as(const fs::path& path, const io::Format& format) {
  return path.extension() == format.extension ||
         (!format.other_extension.empty() && path.extension() == format.other_extension);
}

const io::Format* format_by_name(const fs::path& path) {
  const auto all = io::formats();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const io::Format& format) { return is_named_as(path, format); });
  return found == all.end() ? nullptr : &*found;
}

// step-5.npz.sha256 and an editor's step-5.npz~ are no checkpoints; Keras writes step-5.weights.h5,
// and Hugging Face step-5.safetensors.index.json.
bool is_checkpoint_name(const fs::path& path) {
  const fs::path inner = path.stem().extension();
  return step_of(path) && (inner.empty() || inner == ".weights" || inner == ".index") &&
         !path.native().ends_with('~');
}

std::vector<CheckpointFile> in_folder(const fs::path& folder, const io::Format* format) {
  std::vector<CheckpointFile> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::path& path = it->path();
    if (is_checkpoint_name(path) && it->is_regular_file(error) &&
        (format == nullptr || is_named_as(path, *format))) {
      found.push_back({path, step_of(path)});
    }
  }
  if (error) throw InputError(fmt::format("{}: {}", folder.string(), error.message()));
  if (found.empty()) {
    throw InputError(
        fmt::format("{}: no checkpoint in this folder; it stands for the files named "
                    "step-N{} in it",
                    folder.string(),
                    format == nullptr ? ".*" : format->extension));
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return *a.step != *b.step ? *a.step < *b.step : a.path < b.path;
  });
  for (std::size_t i = 1; i < found.size(); ++i) {
    if (found[i].step != found[i - 1].step) continue;
    const bool is_told_apart =
        format == nullptr && format_by_name(found[i - 1].path) != format_by_name(found[i].path);
    throw InputError(fmt::format("{}: step {} is there twice, as {} and {}; {}",
                                 folder.string(),
                                 *found[i].step,
                                 found[i - 1].path.filename().string(),
                                 found[i].path.filename().string(),
                                 is_told_apart ? "choose one with --format"
                                               : "move one elsewhere, or name the files one by one "
                                                 "in place of the folder"));
  }
  return found;
}

const io::Format& format_named(const std::string& format) {
  std::vector<std::string> names;
  for (const io::Format& f : io::formats()) {
    if (f.name == format) return f;
    names.emplace_back(f.name);
  }
  throw ConfigError(fmt::format("--format: unknown format '{}'{}; there are {}",
                                format,
                                did_you_mean(format, names),
                                fmt::join(names, ", ")));
}

}  // namespace

std::vector<CheckpointFile> expand_checkpoints(const std::vector<fs::path>& named,
                                               const std::string& format) {
  const io::Format* const wanted = format.empty() ? nullptr : &format_named(format);
  std::vector<CheckpointFile> checkpoints;
  for (const fs::path& path : named) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      const auto found = in_folder(path, wanted);
      checkpoints.insert(checkpoints.end(), found.begin(), found.end());
    } else {
      checkpoints.push_back({path, step_of(path)});
    }
  }
  return checkpoints;
}

std::vector<fs::path> unnumbered_checkpoints(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::path& path = it->path();
    const std::string name = path.filename().string();
    const bool is_shard = name.find("-of-") != std::string::npos;
    if (name.starts_with("step-") && !is_checkpoint_name(path) && !is_shard &&
        format_by_name(path) != nullptr && it->is_regular_file(error)) {
      found.push_back(path);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace hesscope
