// SPDX-License-Identifier: BSD-3-Clause
//
// Result files: HDF5 that is also valid netCDF-4, so that xarray, netCDF4, ncdump, NCO, h5py,
// MATLAB and Julia open it directly. A file appears complete or not at all: it is written next to
// its destination; commit() closes it, checking every return code, syncs it, renames it into place
// and syncs the folder. The essay in netcdf_layout.cc explains what the format must avoid and why.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <hesscope/dataset/dataset.h>
#include <hesscope/storage/overwrite.h>

namespace hesscope::io {

/// Version of the groups, names and meanings in result files (semantic versioning): the root
/// attribute hesscope_schema_version.
/// 2.2: root attribute `unproved`. 2.1: attribute `references` of quantities. 2: a status is stored
/// only where it is informative; groups hold their coordinates. 1: a status next to every number.
inline constexpr std::string_view kResultSchemaVersion = "2.2.0";

/// Values of a variable, row-major; of the types in the order of VariableType.
using VariableValues = std::variant<std::span<const double>,
                                    std::span<const std::int64_t>,
                                    std::span<const std::int8_t>,
                                    std::span<const std::string>>;

/// A result file being written. Groups are named "" (root), "spectrum", ...; a dimension defined in
/// the root is visible in every group. All members throw OutputError naming the file and the
/// object, and PreconditionError once the object has been moved from.
class ResultFile {
 public:
  struct Options {
    Existing existing = Existing::kRefuse;  ///< what to do with a file that exists at commit
  };

  /// Starts a file that will appear at `path` on commit(). @throws OutputError if the folder does
  /// not exist or cannot be written, or `path` exists and may not be replaced.
  explicit ResultFile(std::filesystem::path path, Options options);
  explicit ResultFile(std::filesystem::path path);
  ~ResultFile();  ///< discards everything unless commit() has returned
  ResultFile(ResultFile&&) noexcept;
  ResultFile& operator=(ResultFile&&) = delete;

  void set_attribute(const std::string& group, const Attribute& attribute);

  /// Declares a dimension. It becomes a dimension scale: a coordinate variable if define_variable
  /// is called for a variable of the same name with this one dimension, otherwise a bare netCDF
  /// dimension.
  void define_dimension(const std::string& group, const std::string& name, std::uint64_t size);

  /// The same, and declares its coordinate variable. @returns this variable, which is still to be
  /// written; nothing if the dimension has neither labels nor numbers.
  std::optional<Variable> define_dimension(const std::string& group, const Dimension& dimension);

  /// Declares a variable over dimensions of its group or of the root. Doubles are initialised to
  /// NaN, int8 to -1, which is not a code of any flag or status, int64 to its netCDF fill value,
  /// text to "".
  void define_variable(const std::string& group, const Variable& variable);

  /// Sets an attribute of a defined variable.
  void set_variable_attribute(const std::string& group,
                              const std::string& name,
                              const Attribute& attribute);

  /// Extents of a defined variable, slowest first.
  std::vector<std::uint64_t> shape_of(const std::string& group, const std::string& name) const;

  /// Writes all values of a variable; their number is the product of its dimensions.
  void write(const std::string& group, const std::string& name, const VariableValues& values);

  /// Writes the values of a defined variable. A missing variable has none; the initial values in
  /// the file (NaN, kMissingCount) then mark it as missing.
  void write(const std::string& group, const Variable& variable);
  void write_slice(const std::string& group, const Variable& variable, std::uint64_t index);

  /// Declares and writes a whole group: attributes, dimensions and variables. Statuses are omitted.
  void write(const Group& group);

  /// Writes the slice [index, ...] along the first dimension.
  void write_slice(const std::string& group,
                   const std::string& name,
                   std::uint64_t index,
                   const VariableValues& values);

  /// Closes, syncs and publishes the file. @throws OutputError if any byte could not be stored; the
  /// destination is then as it was before.
  void commit();

 private:
  struct Impl;
  Impl& impl() const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hesscope::io
