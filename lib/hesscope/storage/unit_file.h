// SPDX-License-Identifier: BSD-3-Clause
//
// A file of finished units: a table that says whose they are, what they are called and what their
// bytes hash to, then the bytes. Nothing is believed of a file because of where it lies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hesscope::io {

/// One unit in a file of units.
struct StoredUnit {
  std::string name;
  std::uint64_t offset = 0;  ///< of its bytes in the file
  std::uint64_t size = 0;
  std::string sha256;  ///< of its bytes
};

struct UnitTable {
  std::string run;                ///< digest of the configuration of the run that wrote the file
  std::vector<StoredUnit> units;  ///< at least one, sorted by name
};

/// The table of a file of units; nothing where it is damaged.
/// @throws MissingFileError; UnreadableFileError where nobody knows whether it is damaged.
/// @cost reads the table alone.
std::optional<UnitTable> read_unit_table(const std::filesystem::path& path);

/// The bytes of a unit; nothing where they are not those that its table tells of.
/// @throws as read_unit_table().
std::optional<std::string> read_unit(const std::filesystem::path& path, const StoredUnit& unit);

/// Writes a file of units, whole or not at all, and syncs it; one that is there is replaced.
/// @param run    64 hexadecimal digits.
/// @param units  bytes by names without tabs and line ends; at least one.
/// @returns their table. @throws OutputError as AtomicFile.
UnitTable write_units(const std::filesystem::path& path,
                      const std::string& run,
                      const std::map<std::string, std::string>& units);

}  // namespace hesscope::io
