// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <exception>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/sha256.h>
#include <hesscope/storage/unit_folder.h>

namespace hesscope::io {
namespace {

namespace fs = std::filesystem;

const std::string kUnitsSuffix = ".unit";
const std::string kJournalSuffix = ".journal";
const std::string kConfiguration = "configuration";

// For units that have been taken but not yet written.
constexpr std::size_t kMaxPendingBytes = std::size_t{16} << 20;

fs::path units_folder_of(const fs::path& output) {
  fs::path folder = output;
  folder += ".units";
  return folder;
}

// OUTPUT.units while it is being removed: .OUTPUT.tmp-units next to it.
fs::path remnant_of(const fs::path& folder) {
  const std::string output = folder.stem().string();
  return folder.parent_path() / fmt::format(".{}.tmp-units", output);
}

void require_name(const std::string& name) {
  const auto is_fine = [](char c) {
    return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
  };
  if (name.empty() || name[0] == '.' || !std::all_of(name.begin(), name.end(), is_fine)) {
    throw PreconditionError(fmt::format("UnitFolder: bad name '{}' of a unit", name));
  }
}

// Whether a name is that of a file being put into place (AtomicFile), or of a folder being removed:
// "PREFIX.tmp-PID", "PREFIX.tmp-units".
bool is_temporary_name(std::string_view name, std::string_view prefix) {
  const std::size_t mark = name.rfind(".tmp-");
  if (mark == std::string_view::npos || !name.starts_with(prefix)) return false;
  const std::string_view behind = name.substr(mark + 5);
  return behind == "units" ||
         (!behind.empty() && behind.find_first_not_of("0123456789-") == std::string_view::npos);
}

// A folder that cannot be listed is not considered empty.
bool has_no_units(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path extension = entry->path().extension();
    if (extension == kUnitsSuffix || extension == kJournalSuffix) return false;
  }
  return !error;
}

// The name of something in the folder that no run puts there; nothing if there is no such thing.
std::optional<std::string> foreign_entry(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const fs::path extension = entry->path().extension();
    const bool is_own_name = name == kConfiguration || extension == kUnitsSuffix ||
                             extension == kJournalSuffix || is_temporary_name(name, ".");
    std::error_code ignored;
    if (!is_own_name || fs::is_directory(entry->symlink_status(ignored))) return name;
  }
  return std::nullopt;
}

// The text stored with it; nothing if it is missing or damaged.
std::optional<std::string> read_configuration(const fs::path& folder) {
  const fs::path path = folder / kConfiguration;
  try {
    const std::optional<UnitTable> table = read_unit_table(path);
    return table ? read_unit(path, table->units.front()) : std::nullopt;
  } catch (const MissingFileError&) {
    return std::nullopt;
  }
}

// A file is named after the first unit in it, with a number if that name is taken.
std::string unit_named_by(const fs::path& file) {
  const std::string stem = file.stem().string();
  return stem.substr(0, stem.find('+'));
}

void remove_temporaries(const fs::path& folder, const std::string& prefix) noexcept {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (!is_temporary_name(name, prefix)) continue;
    if (name.ends_with("-units")) {
      fs::remove_all(entry->path(), ignored);
    } else if (entry->symlink_status(ignored).type() == fs::file_type::regular) {
      fs::remove(entry->path(), ignored);
    }
  }
}

// Removes it completely or not at all: a process killed meanwhile leaves something that
// remove_remnants() recognises, never units without their configuration. Does nothing if there is
// anything else in the folder.
void remove_folder(const fs::path& folder) noexcept {
  if (foreign_entry(folder)) return;
  std::error_code error;
  const fs::path remnant = remnant_of(folder);
  fs::remove_all(remnant, error);
  fs::rename(folder, remnant, error);
  fs::remove_all(error ? folder : remnant, error);
}

// Whether a folder belongs to this run. Units of another run are refused, or removed; a folder with
// anything else in it, which would be removed together with the units, is refused.
bool admit(const fs::path& folder,
           const RunConfiguration& configuration,
           UnitFolder::Others others) {
  if (const std::optional<std::string> foreign = foreign_entry(folder)) {
    throw ConfigError(
        fmt::format("{}: holds '{}', which is no finished part of a run; the folder would go when "
                    "the run is done: move it, or choose another output",
                    folder.string(),
                    printable(*foreign)));
  }
  const std::optional<std::string> theirs = read_configuration(folder);
  if (theirs == text_of(configuration)) return true;
  if (has_no_units(folder)) return false;
  if (others == UnitFolder::Others::kRefuse) {
    throw ConfigError(fmt::format(
        "{}: holds the finished parts of a run that differs in {}; finish that run by its own "
        "command, or discard its parts by `Overwrite::kOwnKind`",
        folder.string(),
        theirs ? difference_from(configuration, *theirs) : "its damaged configuration"));
  }
  remove_folder(folder);
  return false;
}

}  // namespace

UnitFolder::UnitFolder(const fs::path& output, const RunConfiguration& configuration, Others others)
    : folder_(units_folder_of(output)), run_(digest_of(configuration)) {
  open(configuration, others);
  index(folder_);
}

void UnitFolder::open(const RunConfiguration& configuration, Others others) {
  std::error_code error;
  fs::create_directory(folder_, error);
  if (error || !fs::is_directory(folder_, error)) {
    throw OutputError(fmt::format("{}: cannot create the folder for finished parts: {}",
                                  folder_.string(),
                                  error ? error.message() : "a file is in the way"));
  }
  const bool is_ours = admit(folder_, configuration, others);
  remove_temporaries(folder_, ".");
  if (is_ours) return;
  fs::create_directory(folder_, error);
  write_units(folder_ / kConfiguration, run_, {{kConfiguration, text_of(configuration)}});
}

void UnitFolder::borrow(const fs::path& output) {
  const fs::path folder = units_folder_of(output);
  const std::optional<std::string> theirs = read_configuration(folder);
  if (theirs && sha256_of_text(*theirs) == run_) index(folder);
}

void UnitFolder::index(const fs::path& folder) {
  std::set<fs::path> files;  // in a fixed order, so that remarks are, too
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == kUnitsSuffix) files.insert(entry->path());
  }
  // Another process may remove its own folder, at any moment.
  const bool is_gone = error == std::errc::no_such_file_or_directory;
  if (error && !is_gone) {
    throw OutputError(
        fmt::format("{}: cannot list the finished parts: {}", folder.string(), error.message()));
  }
  for (const fs::path& file : files) index_file(file);
}

void UnitFolder::index_file(const fs::path& file) {
  const auto refuse = [&](const std::string& why) {
    remarks_.push_back(fmt::format("{}: {}; computed again", file.string(), why));
    std::error_code ignored;
    // Unused files are removed, so that the remark is made only once.
    if (file.parent_path() == folder_) fs::remove(file, ignored);
  };
  std::optional<UnitTable> table;
  try {
    table = read_unit_table(file);
  } catch (const MissingFileError&) {
    return;  // borrowed, and removed by its owner since, who may have written another
  }
  if (!table) return refuse("is damaged");
  if (table->run != run_) return refuse("holds the numbers of another run");
  const std::string& first = table->units.front().name;
  if (first != unit_named_by(file)) {
    return refuse(fmt::format("holds the numbers of another unit, '{}'", first));
  }
  for (const StoredUnit& unit : table->units) places_.emplace(unit.name, Place{file, unit});
}

UnitFolder::~UnitFolder() {
  try {
    flush();
  } catch (const std::exception&) {
    // As after a kill: the next run computes it again.
  }
  if (has_no_units(folder_)) remove();
}

std::optional<std::string> UnitFolder::read(const std::string& name) {
  require_name(name);
  const auto taken = pending_.find(name);
  if (taken != pending_.end()) return taken->second;
  const auto [first, last] = places_.equal_range(name);
  std::optional<fs::path> damaged;
  for (auto each = first; each != last; ++each) {
    try {
      if (auto bytes = read_unit(each->second.file, each->second.unit)) return bytes;
      if (!damaged) damaged = each->second.file;
    } catch (const MissingFileError&) {
      // borrowed, and removed by its owner since
    }
  }
  if (damaged) {
    remarks_.push_back(
        fmt::format("{}: the unit '{}' is damaged; computed again", damaged->string(), name));
  }
  places_.erase(first, last);
  return std::nullopt;
}

void UnitFolder::write(const std::string& name, std::string bytes) {
  require_name(name);
  pending_bytes_ += bytes.size();
  pending_[name] = std::move(bytes);
  places_.erase(name);
  const Clock::duration pause = std::min<Clock::duration>(20 * cost_, std::chrono::seconds(1));
  const bool is_due = !flushed_ || Clock::now() - *flushed_ >= pause;
  if (is_due || pending_bytes_ >= kMaxPendingBytes) flush();
}

void UnitFolder::flush() {
  if (pending_.empty()) return;
  const Clock::time_point begin = Clock::now();
  try {
    keep(pending_);
    pending_.clear();
    pending_bytes_ = 0;
  } catch (const OutputError&) {
    if (pending_.size() == 1) throw;
    keep_each();
  }
  flushed_ = Clock::now();
  cost_ = *flushed_ - begin;
}

// One by one, as long as there is room.
void UnitFolder::keep_each() {
  std::exception_ptr error;
  for (auto unit = pending_.begin(); unit != pending_.end();) {
    try {
      keep({*unit});
      pending_bytes_ -= unit->second.size();
      unit = pending_.erase(unit);
    } catch (const OutputError&) {
      error = std::current_exception();
      ++unit;
    }
  }
  if (error) std::rethrow_exception(error);
}

// In one file.
void UnitFolder::keep(const std::map<std::string, std::string>& units) {
  const fs::path file = free_file(units.begin()->first);
  for (const StoredUnit& unit : write_units(file, run_, units).units) {
    places_.emplace(unit.name, Place{file, unit});
  }
}

// Skips files that still hold units.
fs::path UnitFolder::free_file(const std::string& name) const {
  for (int number = 1;; ++number) {
    fs::path file = folder_ / (number == 1 ? fmt::format("{}{}", name, kUnitsSuffix)
                                           : fmt::format("{}+{}{}", name, number, kUnitsSuffix));
    const auto is_there = [&](const auto& each) { return each.second.file == file; };
    if (std::none_of(places_.begin(), places_.end(), is_there)) return file;
  }
}

std::size_t UnitFolder::size() const {
  std::set<std::string> names;
  for (const auto& [name, place] : places_) names.insert(name);
  for (const auto& [name, bytes] : pending_) names.insert(name);
  return names.size();
}

fs::path UnitFolder::journal(const std::string& name) const {
  require_name(name);
  return folder_ / (name + kJournalSuffix);
}

std::uint64_t UnitFolder::owner_of(const std::string& name) const {
  const std::string digest = sha256_of_text(fmt::format("{}\n{}", run_, name));
  std::uint64_t owner = 0;
  std::from_chars(digest.data(), digest.data() + 16, owner, 16);
  return owner;
}

void UnitFolder::remove() noexcept {
  places_.clear();
  pending_.clear();
  pending_bytes_ = 0;
  remove_folder(folder_);
}

bool has_units(const fs::path& output) {
  std::error_code ignored;
  return fs::is_directory(units_folder_of(output), ignored);
}

void admit_units(const fs::path& output,
                 const RunConfiguration& configuration,
                 UnitFolder::Others others) {
  if (has_units(output)) admit(units_folder_of(output), configuration, others);
}

void remove_units(const fs::path& output, const RunConfiguration& configuration) {
  const fs::path folder = units_folder_of(output);
  if (!has_units(output)) return;
  if (has_no_units(folder) || read_configuration(folder) == text_of(configuration)) {
    remove_folder(folder);
  }
}

void remove_remnants(const fs::path& output) noexcept {
  const fs::path folder = output.has_parent_path() ? output.parent_path() : fs::path(".");
  remove_temporaries(folder, fmt::format(".{}.tmp-", output.filename().string()));
}

}  // namespace hesscope::io
