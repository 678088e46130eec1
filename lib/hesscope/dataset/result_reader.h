// SPDX-License-Identifier: BSD-3-Clause
//
// Reads the contents of a result file: what it holds, and the values of single variables. Used by
// `hesscope inspect`, by tools that plot results, and to assemble a result from its units. It reads
// what ResultFile writes, also after netCDF tools have edited it.
//
//   io::ResultReader result("out.h5");
//   for (const Group& group : result.groups()) ...        // no data read yet
//   std::vector<double> values = result.read_doubles("spectrum", "eigenvalues");
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/dataset/dataset.h>

namespace hesscope::io {

/// The groups of a landscape's surfaces and axes, and of a path's images.
inline constexpr const char* kLandscapeGroup = "landscape";
inline constexpr const char* kPathGroup = "path";

class InputFile;

/// True for a file that declares itself a result: HDF5 with the root attribute
/// hesscope_schema_version. False for anything else, including a missing file. The check runs in a
/// separate process, since the file may contain anything.
/// @throws InputError if this cannot be determined: the file cannot be read, another program is
///         writing to it, or the process does not answer. OutputError if the system allows no
///         further process.
bool is_result_file(const std::filesystem::path& path);

/// The same for a file that is already open.
bool is_result_file(const InputFile& file);

/// An open result file, which is never written to. A separate process reads it, since the HDF5
/// library crashes on, and hangs in, damaged files. All members throw InputError naming file and
/// object, OutputError if the system allows no further process, and PreconditionError once the
/// object has been moved from.
class ResultReader {
 public:
  /// Reads the metadata and the text. @throws InputError if the file is missing, not HDF5, or
  /// damaged.
  explicit ResultReader(std::filesystem::path path);
  ~ResultReader();
  ResultReader(ResultReader&&) noexcept;
  ResultReader& operator=(ResultReader&&) = delete;

  const std::filesystem::path& path() const;

  /// The root first, then its groups, in order of creation.
  const std::vector<Group>& groups() const&;
  const std::vector<Group>& groups() && = delete;

  /// nullptr if there is none.
  const Group* find_group(const std::string& name) const;
  const Variable* find(const std::string& group, const std::string& name) const;

  /// An attribute of a group; nullptr if there is none.
  const AttributeValue* find_attribute(const std::string& group, const std::string& name) const;

  /// A variable as it is listed, with its values. @throws InputError as below.
  Variable read(const std::string& group, const std::string& name) const;

  /// All values, row-major. @throws InputError also if there is no such variable, it has another
  /// type, or a checksum does not match.
  std::vector<double> read_doubles(const std::string& group, const std::string& name) const;
  std::vector<std::int64_t> read_integers(const std::string& group,
                                          const std::string& name) const;  ///< int64 or int8
  std::vector<std::string> read_text(const std::string& group, const std::string& name) const;

  /// Row-major values of the slice [index, ...] along the first dimension.
  std::vector<double> read_double_slice(const std::string& group,
                                        const std::string& name,
                                        std::uint64_t index) const;

 private:
  struct Impl;
  const Impl& impl() const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hesscope::io
