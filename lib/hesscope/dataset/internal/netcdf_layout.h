// SPDX-License-Identifier: BSD-3-Clause
//
// HDF5 objects as required by netCDF-4: the only place that knows the conventions. The reasons are
// in the essay in netcdf_layout.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/core/shape.h>
#include <hesscope/dataset/result_file.h>
#include <hesscope/hdf5/internal/hdf5_handle.h>

namespace hesscope::io::netcdf {

/// What an error message names.
struct Place {
  const std::filesystem::path& file;
  std::string object;  ///< "variable '/spectrum/eigenvalues'"

  std::string text() const;
};

/// @throws OutputError "<file>: <object>: cannot <action>: <HDF5's text>". Call right after the
/// failure.
[[noreturn]] void fail(const Place& place, std::string_view action);

/// @throws OutputError unless netCDF accepts `name` for a dimension, variable, attribute or group.
void require_name(const Place& place, std::string_view name);

/// @throws OutputError unless `text` is UTF-8 without NUL; otherwise no reader could recover it.
void require_text(const Place& place, std::string_view text);

/// The NAME attribute by which netCDF knows a dimension without values; %10d is its size.
inline constexpr std::string_view kBareDimensionName =
    "This is a netCDF dimension but not a netCDF variable.";

/// Truncates `temporary` to an empty file; messages name place.file. Writes that fail later on are
/// recorded in `first_error` (see recording_driver.h).
Hid create_file(const std::filesystem::path& temporary, int& first_error, const Place& place);

Hid create_group(hid_t file, const std::string& name, const Place& place);

/// Creates or replaces an attribute.
void write_attribute(hid_t object, const Attribute& attribute, const Place& place);

struct VariableLayout {
  VariableType type = VariableType::kDouble;
  std::vector<hsize_t> shape;
};

Hid create_variable(hid_t group,
                    const std::string& name,
                    const VariableLayout& layout,
                    const Place& place);

/// The chunk shape of a variable whose bytes pass through the filters; empty if it is stored
/// unchunked.
std::vector<hsize_t> chunk_shape(const VariableLayout& layout);

/// The same for an array of numbers, `value_bytes` each.
std::vector<hsize_t> chunk_shape(const std::vector<hsize_t>& shape, std::size_t value_bytes);

/// Turns a 1-D variable into the coordinate variable of dimension `id`.
void make_coordinate(hid_t variable, const std::string& name, int id, const Place& place);

/// The dimension scale of a dimension without values. Takes no space for its data.
void create_bare_dimension(
    hid_t group, const std::string& name, hsize_t size, int id, const Place& place);

/// Type of one value in memory. Text is `const char*`.
Hid memory_type(VariableType type);

/// Bytes of one stored value.
std::size_t stored_size(VariableType type);

}  // namespace hesscope::io::netcdf
