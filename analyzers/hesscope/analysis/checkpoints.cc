// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analysis/checkpoints.h>
#include <hesscope/analysis/internal/checkpoint_names.h>
#include <hesscope/core/error.h>
#include <hesscope/core/name_list.h>
#include <hesscope/tensors/format_registry.h>

namespace hesscope {
namespace {

namespace fs = std::filesystem;

using detail::format_by_ending;
using detail::NumberedName;
using detail::step_of_convention;

// Endings that may precede that of a format: Keras writes step-5.weights.h5, and Hugging Face
// step-5.safetensors.index.json. step-5.npz.sha256 and an editor's step-5.npz~ are not checkpoints.
bool has_plain_ending(const fs::path& path) {
  const fs::path inner = path.stem().extension();
  return (inner.empty() || inner == ".weights" || inner == ".index") &&
         !path.native().ends_with('~');
}

bool is_of_convention(const fs::path& path) {
  return step_of_convention(path) && has_plain_ending(path);
}

// model-00001-of-00002.safetensors is reached through its index.
bool is_shard(const fs::path& path) {
  return path.filename().string().find("-of-") != std::string::npos;
}

// Whether the name ends as those of a format do; .json files count only if they are an index or
// Keras's.
bool has_checkpoint_ending(const fs::path& path) {
  const io::FormatKind* const format = format_by_ending(path);
  if (format == nullptr || path.native().ends_with('~') || is_shard(path)) return false;
  return format->extension != ".json" || !path.stem().extension().empty();
}

bool is_numbered_checkpoint(const fs::path& path) {
  if (!has_checkpoint_ending(path)) return false;
  const NumberedName name = detail::numbered_name(path);
  return !name.is_of_folder && !name.numbers.empty();
}

// Regular files, and other entries that are named like one checkpoint of several.
std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code is_unknown;  // as for a circle of links
    const bool is_file = it->is_regular_file(is_unknown);
    if (is_file || is_numbered_checkpoint(it->path())) files.push_back(it->path());
  }
  if (error) throw InputError(fmt::format("{}: {}", folder.string(), error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

// If it were left out silently, nobody would notice.
void refuse_what_is_no_file(const fs::path& folder, const std::vector<CheckpointFile>& chosen) {
  for (const CheckpointFile& checkpoint : chosen) {
    const fs::path& path = checkpoint.path;
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_regular_file(status)) continue;
    const std::string target = fs::read_symlink(path, error).string();  // empty: not a link
    throw InputError(fmt::format(
        "{}: {} is named like a checkpoint, but is {}; move it elsewhere, or name the files one by "
        "one in place of the folder",
        folder.string(),
        path.filename().string(),
        fs::is_directory(status) ? "a folder"
        : fs::exists(status)     ? "not a regular file"
        : target.empty()         ? "not there any more"
                         : fmt::format("a symbolic link to {}, which cannot be read", target)));
  }
}

std::string names_text(const std::vector<fs::path>& files) {
  constexpr std::size_t kMaxNamed = 5;
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.filename().string());
  return first_names(names, kMaxNamed);
}

void sort_by_step(std::vector<CheckpointFile>& files) {
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return a.step != b.step ? a.step < b.step : a.path < b.path;
  });
}

[[noreturn]] void refuse_two(const fs::path& folder,
                             const CheckpointFile& one,
                             const CheckpointFile& other,
                             bool is_told_apart) {
  throw InputError(fmt::format("{}: step {} is there twice, as {} and {}; {}",
                               folder.string(),
                               *one.step,
                               one.path.filename().string(),
                               other.path.filename().string(),
                               is_told_apart ? "choose one with `format`"
                                             : "move one elsewhere, or name the files one by one "
                                               "in place of the folder"));
}

void refuse_repeated_steps(const fs::path& folder,
                           const std::vector<CheckpointFile>& files,
                           bool is_any_format) {
  for (std::size_t i = 1; i < files.size(); ++i) {
    const CheckpointFile& before = files[i - 1];
    if (files[i].step != before.step) continue;
    const bool is_told_apart =
        is_any_format && format_by_ending(before.path) != format_by_ending(files[i].path);
    refuse_two(folder, before, files[i], is_told_apart);
  }
}

void remark_on_other_names(const fs::path& folder,
                           const std::vector<fs::path>& left_out,
                           CheckpointFolder& content) {
  if (left_out.empty()) return;
  content.remarks.push_back(fmt::format("{}: left out, since not named like {}: {}",
                                        folder.string(),
                                        content.files.front().path.filename().string(),
                                        names_text(left_out)));
}

// The files named step-N.*; nothing if there are none.
CheckpointFolder by_convention(const fs::path& folder,
                               const std::vector<fs::path>& files,
                               const io::FormatKind* format) {
  CheckpointFolder content;
  std::vector<fs::path> unnumbered;
  std::vector<fs::path> otherwise_numbered;
  for (const fs::path& file : files) {
    if (is_of_convention(file)) {
      if (format != nullptr && format_by_ending(file) != format) continue;
      content.files.push_back({file, step_of_convention(file)});
    } else if (file.filename().string().starts_with("step-") && has_checkpoint_ending(file)) {
      unnumbered.push_back(file);
    } else if (is_numbered_checkpoint(file) &&
               (format == nullptr || format_by_ending(file) == format)) {
      otherwise_numbered.push_back(file);
    }
  }
  if (content.files.empty()) return {};
  refuse_what_is_no_file(folder, content.files);
  sort_by_step(content.files);
  refuse_repeated_steps(folder, content.files, format == nullptr);
  if (!unnumbered.empty()) {
    content.remarks.push_back(
        fmt::format("{}: left out: no whole number up to 2^53 follows 'step-': {}",
                    folder.string(),
                    names_text(unnumbered)));
  }
  remark_on_other_names(folder, otherwise_numbered, content);
  return content;
}

// Files whose names differ only in their numbers, by what the names share.
using NamedSets = std::map<std::string, std::vector<std::pair<fs::path, NumberedName>>>;

// The set with more files than any other; nothing if there are no sets.
const NamedSets::value_type* largest(const fs::path& folder, const NamedSets& sets) {
  std::size_t most = 0;
  for (const auto& [pattern, set] : sets) most = std::max(most, set.size());
  const NamedSets::value_type* found = nullptr;
  std::vector<fs::path> first;
  for (const auto& set : sets) {
    if (set.second.size() != most) continue;
    found = &set;
    first.push_back(set.second.front().first);
  }
  if (first.size() <= 1) return found;
  throw InputError(
      fmt::format("{}: the files in this folder are named in several ways ({}), and which are the "
                  "checkpoints is not known; name them one by one in place of the folder",
                  folder.string(),
                  names_text(first)));
}

// The largest set of files named alike; nothing if there are none.
CheckpointFolder by_pattern(const fs::path& folder,
                            const std::vector<fs::path>& files,
                            const io::FormatKind* format) {
  NamedSets sets;
  std::vector<fs::path> left_out;
  for (const fs::path& file : files) {
    if (!has_checkpoint_ending(file)) continue;
    if (format != nullptr && format_by_ending(file) != format) continue;
    NumberedName name = detail::numbered_name(file);
    if (name.is_of_folder || name.numbers.empty()) {
      left_out.push_back(file);
    } else {
      sets[name.pattern].emplace_back(file, std::move(name));
    }
  }
  const NamedSets::value_type* const chosen = largest(folder, sets);
  if (chosen == nullptr) return {};
  for (const auto& set : sets) {
    if (&set == chosen) continue;
    for (const auto& [file, name] : set.second) left_out.push_back(file);
  }
  std::vector<NumberedName> names;
  for (const auto& [file, name] : chosen->second) names.push_back(name);
  const std::size_t position = detail::step_position(names);
  CheckpointFolder content;
  for (const auto& [file, name] : chosen->second) {
    content.files.push_back({file, name.numbers[position]});
  }
  refuse_what_is_no_file(folder, content.files);
  sort_by_step(content.files);
  for (std::size_t i = 1; i < content.files.size(); ++i) {
    const CheckpointFile& before = content.files[i - 1];
    const CheckpointFile& file = content.files[i];
    if (before.step && before.step == file.step && before.path.stem() == file.path.stem()) {
      refuse_two(folder, before, file, true);
    }
  }
  std::sort(left_out.begin(), left_out.end());
  remark_on_other_names(folder, left_out, content);
  return content;
}

// The first folder with checkpoints below this one, at most that many levels down.
std::optional<fs::path> folder_with_checkpoints(const fs::path& folder, int levels) {
  std::vector<fs::path> below;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code none;
    if (entry->is_directory(none)) below.push_back(entry->path());
  }
  std::sort(below.begin(), below.end());
  for (const fs::path& each : below) {
    const std::vector<fs::path> files = files_in(each);
    if (std::any_of(files.begin(), files.end(), has_checkpoint_ending)) return each;
    if (levels <= 1) continue;
    if (auto found = folder_with_checkpoints(each, levels - 1)) return found;
  }
  return std::nullopt;
}

// What a folder without checkpoints holds instead.
std::string found_instead(const fs::path& folder, const std::vector<fs::path>& files) {
  std::vector<fs::path> others;
  std::copy_if(files.begin(), files.end(), std::back_inserter(others), has_checkpoint_ending);
  if (!others.empty()) {
    return fmt::format(". It holds {}, named otherwise: name such files themselves",
                       names_text(others));
  }
  constexpr int kLevels = 3;
  const std::optional<fs::path> below = folder_with_checkpoints(folder, kLevels);
  if (!below) return "";
  return fmt::format(". Folders below have some, as {}: name one of these", below->string());
}

}  // namespace

CheckpointFolder checkpoints_in_folder(const fs::path& folder, const std::string& format) {
  const io::FormatKind* const wanted = format.empty() ? nullptr : &io::find_format_kind(format);
  const std::vector<fs::path> files = files_in(folder);
  CheckpointFolder content = by_convention(folder, files, wanted);
  if (content.files.empty()) content = by_pattern(folder, files, wanted);
  if (content.files.empty()) {
    throw InputError(fmt::format(
        "{}: no checkpoint in this folder; it stands for the files named step-N{} in it, or else "
        "for those named alike but for their numbers, as epoch_5{}{}",
        folder.string(),
        wanted == nullptr ? ".*" : wanted->extension,
        wanted == nullptr ? ".pt" : wanted->extension,
        found_instead(folder, files)));
  }
  return content;
}

std::vector<CheckpointFile> expand_checkpoints(const std::vector<fs::path>& named,
                                               const std::string& format,
                                               std::vector<std::string>* remarks) {
  if (!format.empty()) io::find_format_kind(format);
  std::vector<CheckpointFile> checkpoints;
  for (const fs::path& path : named) {
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
      checkpoints.push_back({path, detail::step_in_name(path)});
      continue;
    }
    CheckpointFolder found = checkpoints_in_folder(path, format);
    std::ranges::move(found.files, std::back_inserter(checkpoints));
    if (remarks != nullptr) std::ranges::move(found.remarks, std::back_inserter(*remarks));
  }
  return checkpoints;
}

}  // namespace hesscope
