// SPDX-License-Identifier: BSD-3-Clause
//
// A result file of quantities: how they become variables, each with its statuses if these say
// anything, and with its coordinates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hesscope/analysis/internal/unproved_numbers.h>
#include <hesscope/analyzers/analyzer.h>
#include <hesscope/core/status.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/dataset/result_file.h>
#include <hesscope/storage/overwrite.h>

namespace hesscope::detail {

/// A result file whose variables are quantities.
///
/// Every number has a status. The statuses of a quantity are collected while it is written, and
/// become a variable NAME_status only if one of them is not `ok`: a quantity without that variable
/// has all its numbers. Unproved numbers become an attribute of the root: see UnprovedNumbers.
///
/// A group that is opened alone (as xarray does) must hold its own coordinates. A coordinate along
/// one of the group's own dimensions is the variable with the name of the dimension.
/// add_coordinate() adds one along a dimension of the root, or under another name; everything that
/// is defined afterwards along this dimension refers to it (CF's attribute `coordinates`).
///
/// All members throw OutputError as ResultFile does.
class QuantityFile {
 public:
  QuantityFile(const std::filesystem::path& output, io::Existing existing);

  io::ResultFile& file() { return file_; }

  /// Declares the dimensions of a group, with the variables along them.
  void define_dimensions(const std::string& group, const std::vector<Dimension>& dimensions);

  /// Declares and writes a coordinate along `dimension`.
  void add_coordinate(const std::string& group, const Variable& variable);

  /// Registers a variable of the group, defined or not, as a coordinate along `dimension`.
  void name_coordinate(const std::string& group,
                       const std::string& dimension,
                       const std::string& variable);

  /// Declares a variable along `dimensions`, with the coordinates along them.
  void define(const std::string& group, Variable variable);

  /// Declares a quantity along `dimensions`, with one status for each entry of the first
  /// `num_status_dimensions` of them: not_computed until it is written. Flags have no status.
  void define(const std::string& group,
              const Variable& quantity,
              const std::vector<std::string>& dimensions,
              std::size_t num_status_dimensions);

  /// Writes an answer for variables that were declared in this way: at `index` along their first
  /// dimension, or all of it, with one status or one for each entry.
  void write(const std::string& group,
             const Group& answer,
             std::optional<std::size_t> index = std::nullopt);
  void write(const std::string& group,
             const Variable& variable,
             std::optional<std::size_t> index = std::nullopt);

  /// Writes the statuses that say anything, and the list of unproved numbers, and publishes the
  /// file.
  void commit();

 private:
  struct Statuses {
    std::vector<std::string> dimensions;
    std::vector<std::int8_t> values;
  };

  using Place = std::pair<std::string, std::string>;  // group and name

  void set_statuses(const Place& place,
                    std::optional<std::size_t> index,
                    const std::vector<Status>& statuses);

  io::ResultFile file_;
  std::vector<Place> order_;  // of their definition
  std::map<Place, Statuses> statuses_;
  UnprovedNumbers unproved_;
  std::map<Place, std::vector<std::string>> coordinates_;  // by group and dimension
};

}  // namespace hesscope::detail
