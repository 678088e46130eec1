// SPDX-License-Identifier: BSD-3-Clause
//
// Where a long run keeps what it has finished, so that nothing but the work in flight is ever lost.
//
// A run that writes OUTPUT keeps its finished units in the folder OUTPUT.units, each in a file of
// its own that is synced and renamed into place before it counts: at any moment a process may be
// killed or the power may fail. The same run started again finds them. When OUTPUT has been
// published the folder goes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hesscope::io {

/// All that the units of a run depend on, by name, in an order of its own: a unit is reused by runs
/// of the same configuration only.
using RunConfiguration = std::vector<std::pair<std::string, std::string>>;

/// Hexadecimal SHA-256 of a configuration.
std::string digest_of(const RunConfiguration& configuration);

/// A configuration as text, one key and its value a line.
std::string text_of(const RunConfiguration& configuration);

/// The first key in which another configuration, given as its text, differs; empty if none does.
std::string differing_key(const RunConfiguration& ours, const std::string& theirs);

/// The finished units of one run. The caller holds the FileLock of the output. Safe for concurrent
/// use by threads that write different units.
class UnitFolder {
 public:
  enum class Others {
    kRefuse,   ///< units of another configuration are an error
    kDiscard,  ///< they are removed
  };

  /// Creates OUTPUT.units, or opens it and removes what a killed process left half-written.
  /// @throws ConfigError naming the first key in which the configuration of units found there
  ///         differs; OutputError if the folder cannot be created, read or written.
  UnitFolder(const std::filesystem::path& output,
             const RunConfiguration& configuration,
             Others others);
  UnitFolder(const UnitFolder&) = delete;
  UnitFolder& operator=(const UnitFolder&) = delete;

  /// Removes the folder if it holds no unit.
  ~UnitFolder();

  const std::filesystem::path& path() const { return folder_; }

  /// What a unit holds; nothing if there is none of this name, or its checksum does not match.
  std::optional<std::string> read(const std::string& name) const;

  /// Keeps a unit: when this returns it survives the end of the process and of the power.
  /// @param  name  letters, digits, '-', '_' and '.', not beginning with '.'; otherwise
  ///               PreconditionError.
  /// @throws OutputError naming the file.
  void write(const std::string& name, std::string_view bytes) const;

  /// Number of units there, damaged ones included.
  std::size_t size() const;

  /// Removes all units and the folder; to be called when the output has been published. Failure to
  /// remove is not an error: what remains is found by the next run.
  void remove() const noexcept;

 private:
  std::filesystem::path folder_;
};

/// Whether a run to `output` was begun and not finished: OUTPUT.units exists.
bool has_units(const std::filesystem::path& output);

/// Removes temporary files that killed writers of `output` left beside it. The caller holds its
/// FileLock.
void remove_remnants(const std::filesystem::path& output) noexcept;

}  // namespace hesscope::io
