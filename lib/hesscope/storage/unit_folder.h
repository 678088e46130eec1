// SPDX-License-Identifier: BSD-3-Clause
//
// Where a long run keeps its finished work, so that hardly anything but the work in progress can be
// lost.
//
// A run that writes OUTPUT keeps its finished units in the folder OUTPUT.units, in files that are
// synced and renamed into place before they count, so that the process may be killed or the power
// may fail at any moment. The same run, started again, finds them. When OUTPUT has been published,
// the folder is removed.
//
// What a unit is, and whether it belongs to this run, is decided by the content of its file alone,
// not by the file's place or name in the folder.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/storage/run_configuration.h>
#include <hesscope/storage/unit_file.h>

namespace hesscope::io {

/// The finished units of one run. The caller holds the FileLock of the output. Not safe for
/// concurrent use.
class UnitFolder {
 public:
  enum class Others {
    kRefuse,   ///< units of another configuration are an error
    kDiscard,  ///< they are removed
  };

  /// Creates OUTPUT.units, or opens it and removes files that a killed process left half-written,
  /// that are damaged, that belong to another run, or whose content does not match their name (see
  /// remarks()).
  /// @throws ConfigError naming the first key in which the configuration of units found there
  ///         differs, or naming other content of the folder; OutputError if the folder cannot be
  ///         created, read or written.
  /// @cost   reads the table of each file there, but no units.
  UnitFolder(const std::filesystem::path& output,
             const RunConfiguration& configuration,
             Others others);
  UnitFolder(const UnitFolder&) = delete;
  UnitFolder& operator=(const UnitFolder&) = delete;

  /// Writes to disk what write() has taken, as far as possible, and removes a folder without units.
  ~UnitFolder();

  const std::filesystem::path& path() const { return folder_; }

  /// From now on, also finds the units in the folder of another output, if they have the same
  /// configuration. That folder is only read, and may belong to a running process.
  /// @throws OutputError if it cannot be listed.
  void borrow(const std::filesystem::path& output);

  /// The bytes of a unit; nothing if there is no unit of this name, or its checksum does not match.
  std::optional<std::string> read(const std::string& name);

  /// Takes a unit, to be written together with those that follow shortly. A unit that is on disk
  /// survives a kill of the process and a power cut; about a twentieth of the time is spent on
  /// writing, and a killed process loses at most about a second of work. A unit is determined by
  /// the configuration, so an intact one is never overwritten with other bytes, which the next
  /// process might not find.
  /// @param  name  letters, digits, '-', '_' and '.', not beginning with '.'; otherwise
  ///               PreconditionError.
  /// @throws OutputError naming the file.
  void write(const std::string& name, std::string bytes);

  /// Writes to disk now what write() has taken; if the disk is full, as much of it as fits.
  /// @throws OutputError naming the file.
  void flush();

  /// Number of units there, damaged and borrowed ones included.
  std::size_t size() const;

  /// What was found in the folder but not used, and why: one sentence per file or unit.
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// The path of a file in the folder that the caller writes in its own format.
  std::filesystem::path journal(const std::string& name) const;

  /// An identifier stored in that file, so that files of other runs or names are recognised.
  std::uint64_t owner_of(const std::string& name) const;

  /// Removes all units and the folder; to be called when the output has been published. A failure
  /// to remove is not an error: the next run will find what remains.
  void remove() noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  struct Place {
    std::filesystem::path file;
    StoredUnit unit;
  };

  void open(const RunConfiguration& configuration, Others others);
  void index(const std::filesystem::path& folder);
  void index_file(const std::filesystem::path& file);
  std::filesystem::path free_file(const std::string& name) const;
  void keep(const std::map<std::string, std::string>& units);
  void keep_each();

  std::filesystem::path folder_;
  std::string run_;  // digest of the configuration
  std::multimap<std::string, Place>
      places_;  // by name; if there are several, the first intact one counts
  std::map<std::string, std::string> pending_;  // taken, not written yet
  std::size_t pending_bytes_ = 0;
  std::optional<Clock::time_point> flushed_;  // when writing ended last
  Clock::duration cost_{0};                   // the time that took
  std::vector<std::string> remarks_;
};

/// Whether a run to `output` was begun but not finished: OUTPUT.units exists.
bool has_units(const std::filesystem::path& output);

/// Checks and cleans existing units as opening the folder does, and nothing else. The caller holds
/// the FileLock. @throws ConfigError as UnitFolder.
void admit_units(const std::filesystem::path& output,
                 const RunConfiguration& configuration,
                 UnitFolder::Others others);

/// Removes OUTPUT.units if it is empty or belongs to a run of this configuration. The caller holds
/// the FileLock.
void remove_units(const std::filesystem::path& output, const RunConfiguration& configuration);

/// Removes temporary files that killed writers of `output` left next to it. The caller holds its
/// FileLock.
void remove_remnants(const std::filesystem::path& output) noexcept;

}  // namespace hesscope::io
