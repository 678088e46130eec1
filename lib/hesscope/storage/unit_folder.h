// SPDX-License-Identifier: BSD-3-Clause
//
// Where a long run keeps what it has finished, so that next to nothing but the work in flight is
// ever lost.
//
// A run that writes OUTPUT keeps its finished units in the folder OUTPUT.units, in files that are
// synced and renamed into place before they count: at any moment a process may be killed or the
// power may fail. The same run started again finds them. When OUTPUT has been published the folder
// goes.
//
// A unit counts as what its file says it is, and only if the file says that it is of this run: its
// place and its name in the folder prove nothing.
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

  /// Creates OUTPUT.units, or opens it and removes what a killed process left half-written, and
  /// what is damaged, of another run or of another unit than its name says (see remarks()).
  /// @throws ConfigError naming the first key in which the configuration of units found there
  ///         differs, or what else is in the folder; OutputError if the folder cannot be created,
  ///         read or written.
  /// @cost   reads a table of each file there, none of the units.
  UnitFolder(const std::filesystem::path& output,
             const RunConfiguration& configuration,
             Others others);
  UnitFolder(const UnitFolder&) = delete;
  UnitFolder& operator=(const UnitFolder&) = delete;

  /// Keeps what write() has taken, as far as the disk lets it, and removes a folder without units.
  ~UnitFolder();

  const std::filesystem::path& path() const { return folder_; }

  /// Also finds from now on what the folder of another output holds, if that is of the same
  /// configuration. It is read only, and may be another process's that is at work.
  /// @throws OutputError if it cannot be listed.
  void borrow(const std::filesystem::path& output);

  /// What a unit holds; nothing if there is none of this name, or its checksum does not match.
  std::optional<std::string> read(const std::string& name);

  /// Takes a unit, to be written together with those that follow shortly: what is kept survives the
  /// end of the process and of the power, and a twentieth of the time goes into keeping it. What a
  /// killed process loses is at most the work of a second. A unit follows from the configuration:
  /// one that is there and whole is not written again with other bytes, which the next process may
  /// not find.
  /// @param  name  letters, digits, '-', '_' and '.', not beginning with '.'; otherwise
  ///               PreconditionError.
  /// @throws OutputError naming the file.
  void write(const std::string& name, std::string bytes);

  /// Keeps now what write() has taken, where the disk is full as much of it as fits.
  /// @throws OutputError naming the file.
  void flush();

  /// Number of units there, damaged and borrowed ones included.
  std::size_t size() const;

  /// What was found in the folder and not used, and why: one sentence for each file or unit.
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// A file in the folder that the caller writes in its own way.
  std::filesystem::path journal(const std::string& name) const;

  /// What tells that file's content from those of other runs, and of other names.
  std::uint64_t owner_of(const std::string& name) const;

  /// Removes all units and the folder; to be called when the output has been published. Failure to
  /// remove is not an error: what remains is found by the next run.
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
      places_;  // by names; of several, the first that is whole counts
  std::map<std::string, std::string> pending_;  // taken, not written yet
  std::size_t pending_bytes_ = 0;
  std::optional<Clock::time_point> flushed_;  // when writing ended last
  Clock::duration cost_{0};                   // what it took
  std::vector<std::string> remarks_;
};

/// Whether a run to `output` was begun and not finished: OUTPUT.units exists.
bool has_units(const std::filesystem::path& output);

/// Does with units that are there what opening them does, and nothing else. The caller holds the
/// FileLock. @throws ConfigError as UnitFolder.
void admit_units(const std::filesystem::path& output,
                 const RunConfiguration& configuration,
                 UnitFolder::Others others);

/// Removes OUTPUT.units if it is of a run of this configuration, or empty. The caller holds the
/// FileLock.
void remove_units(const std::filesystem::path& output, const RunConfiguration& configuration);

/// Removes temporary files that killed writers of `output` left beside it. The caller holds its
/// FileLock.
void remove_remnants(const std::filesystem::path& output) noexcept;

}  // namespace hesscope::io
