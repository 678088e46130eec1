// SPDX-License-Identifier: BSD-3-Clause
//
// A look into a result file: what it holds, and the values of one variable. For `hesscope inspect`,
// for tools that draw from results, and for putting a result together from its units. It reads what
// ResultFile writes, and such files after netCDF tools have edited them.
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

/// True for a file that says to be a result: HDF5 with the root attribute hesscope_schema_version.
/// False for anything else, a missing file included. Asks in a separate process, since the file
/// may be anything. @throws InputError where it cannot be told: the file cannot be read, another
/// program is writing to it, or the process gives no answer. OutputError when the system allows no
/// further process.
bool is_result_file(const std::filesystem::path& path);

/// The same of a file that is open already.
bool is_result_file(const InputFile& file);

/// An opened result file, never written to. It is read by a separate process, since the HDF5
/// library crashes on and hangs in damaged files. All members throw InputError naming file and
/// object, OutputError when the system allows no further process, and PreconditionError once it was
/// moved from.
class ResultReader {
 public:
  /// Reads the metadata and the text. @throws InputError if the file is missing, not HDF5, or
  /// damaged.
  explicit ResultReader(std::filesystem::path path);
  ~ResultReader();
  ResultReader(ResultReader&&) noexcept;
  ResultReader& operator=(ResultReader&&) = delete;

  const std::filesystem::path& path() const;

  /// The root first, then its groups; all in order of creation.
  const std::vector<Group>& groups() const&;
  const std::vector<Group>& groups() && = delete;

  /// nullptr where there is none.
  const Group* find_group(const std::string& name) const;
  const Variable* find(const std::string& group, const std::string& name) const;

  /// An attribute of a group; nullptr where there is none.
  const AttributeValue* find_attribute(const std::string& group, const std::string& name) const;

  /// A variable as it is listed, with its values. @throws InputError as below.
  Variable read(const std::string& group, const std::string& name) const;

  /// All values, row-major. @throws InputError also if there is no such variable, it is not of the
  /// kind asked for, or a checksum does not match.
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
