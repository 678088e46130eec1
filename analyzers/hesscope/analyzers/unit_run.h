// SPDX-License-Identifier: BSD-3-Clause
//
// What all resumable runs do with their output. Private to the analyzers.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <hesscope/analyzers/record.h>
#include <hesscope/io/file_lock.h>
#include <hesscope/io/unit_folder.h>

namespace hesscope::detail {

/// A run whose answers are Records, kept unit by unit until its output is in place.
class UnitRun {
 public:
  /// Takes the output's lock, removes what killed runs left half-written and opens the units.
  /// @param probe  makes the output file without publishing it, so that what it refuses it refuses
  ///               before the work; not called where is_published().
  /// @throws LockedError; ConfigError for units of another configuration, unless `overwrite`
  ///         discards them; OutputError; what `probe` throws.
  UnitRun(const std::filesystem::path& output,
          bool overwrite,
          const io::RunConfiguration& configuration,
          const std::function<void()>& probe);

  /// Whether the output is in place already: by a run that was killed before its units were gone.
  bool is_published() const { return is_published_; }

  /// The unit of this name; nothing if it is not there, or damaged.
  std::optional<Record> find(const std::string& name) const;

  /// A unit that was kept before. @throws OutputError if it cannot be read back.
  Record read(const std::string& name) const;

  void keep(const std::string& name, const Record& record) const;

  /// The file of a unit that the caller writes in a way of its own.
  std::filesystem::path path_of(const std::string& name) const;

  /// Removes the units: the output is in place.
  void finish() const { units_->remove(); }

 private:
  io::FileLock lock_;
  bool is_published_ = false;
  std::optional<io::UnitFolder> units_;
};

}  // namespace hesscope::detail
