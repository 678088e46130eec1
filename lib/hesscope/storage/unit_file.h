// SPDX-License-Identifier: BSD-3-Clause
//
// A file of finished units: a table with the run that they belong to, their names and the digests
// of their bytes, followed by the bytes. The location of a file is never taken as evidence of its
// content.
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

/// The table of a file of units; nothing if it is damaged.
/// @throws MissingFileError; UnreadableFileError if the system cannot read it now.
/// @cost reads the table alone.
std::optional<UnitTable> read_unit_table(const std::filesystem::path& path);

/// The bytes of a unit; nothing if they do not match the table. @throws as read_unit_table().
std::optional<std::string> read_unit(const std::filesystem::path& path, const StoredUnit& unit);

/// Writes a file of units, completely or not at all, and syncs it; an existing one is replaced.
/// @param run    64 hexadecimal digits.
/// @param units  bytes by name; names have no tabs or line ends. At least one unit.
/// @returns their table. @throws OutputError as AtomicFile.
UnitTable write_units(const std::filesystem::path& path,
                      const std::string& run,
                      const std::map<std::string, std::string>& units);

}  // namespace hesscope::io
