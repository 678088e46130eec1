// SPDX-License-Identifier: BSD-3-Clause
//
// Units of an interrupted run, for tests that damage some of them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/storage/unit_file.h>

namespace hesscope::test {

/// Puts every unit in the folder into a file of its own, NAME.unit. Returns their number.
inline std::size_t split_units(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".unit") files.push_back(entry.path());
  }
  std::size_t count = 0;
  for (const std::filesystem::path& file : files) {
    const auto table = io::read_unit_table(file);
    if (!table) {
      ADD_FAILURE() << file << " is damaged";
      continue;
    }
    std::map<std::string, std::string> units;
    for (const io::StoredUnit& unit : table->units) {
      units[unit.name] = io::read_unit(file, unit).value();
    }
    std::filesystem::remove(file);
    for (const auto& unit : units) {
      io::write_units(folder / (unit.first + ".unit"), table->run, {unit});
    }
    count += units.size();
  }
  return count;
}

}  // namespace hesscope::test
