// SPDX-License-Identifier: BSD-3-Clause
//
// One HDF5 file for all readers
// =============================
// A netCDF-4 file is an HDF5 file that follows certain conventions, and netCDF readers are
// unforgiving: if one object violates them, the whole file cannot be opened, or the reader crashes.
// The conventions followed here:
//
// - A dimension is a dataset with the attributes of a dimension scale, and *every* dimension of
//   every variable refers to one; partial scales fail in all netCDF readers. If there are no
//   values, the scale is a big-endian float dataset without storage, whose NAME says so.
//   `_Netcdf4Dimid` numbers the dimensions over the whole file. (`_Netcdf4Coordinates` is only
//   needed for coordinate variables of several dimensions, which ResultFile refuses.)
// - Creation order is tracked and indexed for links and attributes: without it netCDF opens the
//   file but refuses to edit it. The bounds (V18, V18) let HDF5 1.8 and all later readers open it.
// - Types are double, int64, int8 and variable-length UTF-8 text. NetCDF readers silently drop
//   booleans, enumerations and compounds; fixed-length text datasets and long double crash them;
//   two-dimensional attributes and null dataspaces in datasets make the file unreadable.
// - Text attributes are fixed-length strings, the only kind that MATLAB and old tools read as text.
// - _FillValue is set for doubles (NaN, which is also the HDF5 fill value), but not for coordinates
//   (CF forbids it) and integers (xarray would turn them into floats).
//
// The same calls give the same bytes: object times are off, and nothing depends on addresses or the
// clock.
//
// Where the bytes are, and what protects them:
//
//   numbers, at most 4 KiB   in the object header (compact), protected by HDF5's own checksum
//   more numbers             in chunks through shuffle, deflate and Fletcher-32
//   text                     in the global heap, no checksum: filters would see only references
//   bare dimensions          nowhere
//
// A chunk is one slice of the first dimension, so that writing slice by slice never rewrites one.
// Slices below 64 KiB are combined up to that size (a chunk costs an index entry and a filter run),
// and slices above 1 MiB are cut along their slow dimensions (a reader of one row must inflate a
// whole chunk).
#include <algorithm>
#include <type_traits>
#include <variant>

#include <fmt/format.h>
#include <hdf5.h>
#include <hdf5_hl.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/dataset/internal/netcdf_layout.h>
#include <hesscope/hdf5/internal/recording_driver.h>

namespace hesscope::io::netcdf {
namespace {

constexpr hsize_t kMaxCompactBytes = 4096;
constexpr hsize_t kMinChunkBytes = hsize_t{64} << 10;
constexpr hsize_t kMaxChunkBytes = hsize_t{1} << 20;
constexpr unsigned kDeflateLevel = 4;
// More than any of our variables has: all attributes stay in the object header.
constexpr unsigned kMaxCompactAttributes = 16;
constexpr unsigned kMinDenseAttributes = 12;
constexpr unsigned kCreationOrder = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
constexpr std::int8_t kFillInt8 = -1;  // not a code of any flag or status

void require(herr_t result, const Place& place, std::string_view action) {
  if (result < 0) fail(place, action);
}

Hid require(Hid id, const Place& place, std::string_view action) {
  if (!id) fail(place, action);
  return id;
}

/// Property list for a file, group or dataset, with the settings common to all objects.
Hid object_properties(hid_t list_class, const Place& place) {
  Hid list = require(Hid(H5Pcreate(list_class), H5Pclose), place, "set its properties");
  const bool ok =
      H5Pset_attr_creation_order(list.get(), kCreationOrder) >= 0 &&
      H5Pset_attr_phase_change(list.get(), kMaxCompactAttributes, kMinDenseAttributes) >= 0 &&
      H5Pset_obj_track_times(list.get(), false) >= 0;
  if (!ok) fail(place, "set its properties");
  return list;
}

void set_fill_value(hid_t properties, VariableType type, const Place& place) {
  herr_t result = 0;
  switch (type) {
    case VariableType::kDouble: {
      const double value = kNaN;
      result = H5Pset_fill_value(properties, H5T_NATIVE_DOUBLE, &value);
      break;
    }
    case VariableType::kInt64:
      result = H5Pset_fill_value(properties, H5T_NATIVE_INT64, &kMissingCount);
      break;
    case VariableType::kInt8:
      result = H5Pset_fill_value(properties, H5T_NATIVE_INT8, &kFillInt8);
      break;
    case VariableType::kText:
    case VariableType::kOther:  // is never written
      break;
  }
  require(result, place, "set its fill value");
}

hsize_t num_bytes(const VariableLayout& layout) {
  hsize_t bytes = stored_size(layout.type);
  for (const hsize_t length : layout.shape) bytes *= length;
  return bytes;
}

/// Little-endian on every machine, so that the bytes are too.
Hid file_type(VariableType type) {
  switch (type) {
    case VariableType::kDouble:
      return {H5Tcopy(H5T_IEEE_F64LE), H5Tclose};
    case VariableType::kInt64:
      return {H5Tcopy(H5T_STD_I64LE), H5Tclose};
    case VariableType::kInt8:
      return {H5Tcopy(H5T_STD_I8LE), H5Tclose};
    case VariableType::kText:
    case VariableType::kOther:  // is never written
      break;
  }
  return memory_type(VariableType::kText);
}

void write_raw_attribute(hid_t object,
                         const std::string& name,
                         hid_t stored,
                         hid_t space,
                         hid_t memory,
                         const void* data,
                         const Place& place) {
  const std::string action = fmt::format("write the attribute '{}'", name);
  const htri_t exists = H5Aexists(object, name.c_str());
  require(exists, place, action);
  if (exists > 0) require(H5Adelete(object, name.c_str()), place, action);
  Hid attribute = require(
      Hid(H5Acreate2(object, name.c_str(), stored, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose),
      place,
      action);
  if (data != nullptr) require(H5Awrite(attribute.get(), memory, data), place, action);
  attribute.close_checked(fmt::format("{}: attribute '{}'", place.text(), name));
}

template <typename T>
constexpr VariableType variable_type() {
  if constexpr (std::is_same_v<T, double>) return VariableType::kDouble;
  if constexpr (std::is_same_v<T, std::int64_t>) return VariableType::kInt64;
  return VariableType::kInt8;
}

void write_id(hid_t dataset, int id, const Place& place) {
  const Hid space(H5Screate(H5S_SCALAR), H5Sclose);
  write_raw_attribute(
      dataset, "_Netcdf4Dimid", H5T_STD_I32LE, space.get(), H5T_NATIVE_INT, &id, place);
}

}  // namespace

std::string Place::text() const { return fmt::format("{}: {}", file.string(), object); }

void fail(const Place& place, std::string_view action) {
  const std::string details = hdf5_error_text();
  throw OutputError(fmt::format("{}: cannot {}: {}", place.text(), action, details));
}

void require_text(const Place& place, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = text[at] == '\0' ? 0 : utf8_length(text.substr(at));
    if (length == 0) {
      throw OutputError(fmt::format(
          "{}: text must be UTF-8 without NUL, found byte 0x{:02x} at offset {}; a file name in "
          "another encoding must be renamed",
          place.text(),
          static_cast<unsigned char>(text[at]),
          at));
    }
    at += length;
  }
}

void require_name(const Place& place, std::string_view name) {
  require_text(place, name);
  const auto is_bad = [](char c) { return c == '/' || (c >= 0 && c < 0x20) || c == 0x7f; };
  const auto starts_well = [](char c) {
    return is_letter_or_digit(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
  };
  constexpr std::size_t kMaxLength = 256;  // NC_MAX_NAME
  if (name.empty() || name.size() > kMaxLength || std::any_of(name.begin(), name.end(), is_bad) ||
      !starts_well(name.front()) || name.back() == ' ') {
    throw OutputError(
        fmt::format("{}: '{}' is no netCDF name: 1 to {} bytes, no '/', no control character, no "
                    "space at the end, first a letter, digit or underscore",
                    place.text(),
                    name,
                    kMaxLength));
  }
}

Hid create_file(const std::filesystem::path& temporary, int& first_error, const Place& place) {
  const Hid creation = object_properties(H5P_FILE_CREATE, place);
  const Hid access = require(Hid(H5Pcreate(H5P_FILE_ACCESS), H5Pclose), place, "create it");
  const bool ok = H5Pset_link_creation_order(creation.get(), kCreationOrder) >= 0 &&
                  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0 &&
                  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) >= 0 &&
                  use_recording_driver(access.get(), first_error);
  if (!ok) fail(place, "set its properties");
  return require(
      Hid(H5Fcreate(temporary.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose),
      place,
      "create it");
}

Hid create_group(hid_t file, const std::string& name, const Place& place) {
  const Hid creation = object_properties(H5P_GROUP_CREATE, place);
  require(H5Pset_link_creation_order(creation.get(), kCreationOrder), place, "set its properties");
  return require(
      Hid(H5Gcreate2(file, name.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Gclose),
      place,
      "create it");
}

void write_attribute(hid_t object, const Attribute& attribute, const Place& place) {
  require_name(place, attribute.name);
  const auto write_numbers = [&](const auto* data, H5S_class_t kind, hsize_t count) {
    using T = std::remove_const_t<std::remove_pointer_t<decltype(data)>>;
    const Hid stored = file_type(variable_type<T>());
    const Hid memory = memory_type(variable_type<T>());
    const Hid space(kind == H5S_SIMPLE ? H5Screate_simple(1, &count, nullptr) : H5Screate(kind),
                    H5Sclose);
    write_raw_attribute(
        object, attribute.name, stored.get(), space.get(), memory.get(), data, place);
  };
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>) {
          require_text(
              {place.file, fmt::format("{}: attribute '{}'", place.object, attribute.name)}, value);
          const bool ascii = std::all_of(value.begin(), value.end(), [](char c) {
            return static_cast<unsigned char>(c) < 128;
          });
          const Hid type(H5Tcopy(H5T_C_S1), H5Tclose);
          // HDF5 has no strings of length 0; all readers treat the single NUL of an empty string as
          // padding.
          H5Tset_size(type.get(), std::max<std::size_t>(value.size(), 1));
          H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
          H5Tset_cset(type.get(), ascii ? H5T_CSET_ASCII : H5T_CSET_UTF8);
          const Hid space(H5Screate(H5S_SCALAR), H5Sclose);
          write_raw_attribute(
              object, attribute.name, type.get(), space.get(), type.get(), value.c_str(), place);
        } else if constexpr (std::is_arithmetic_v<T>) {
          write_numbers(&value, H5S_SCALAR, 1);
        } else {
          write_numbers(value.data(), value.empty() ? H5S_NULL : H5S_SIMPLE, value.size());
        }
      },
      attribute.value);
}

Hid memory_type(VariableType type) {
  switch (type) {
    case VariableType::kDouble:
      return {H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose};
    case VariableType::kInt64:
      return {H5Tcopy(H5T_NATIVE_INT64), H5Tclose};
    case VariableType::kInt8:
      return {H5Tcopy(H5T_NATIVE_INT8), H5Tclose};
    case VariableType::kText:
    case VariableType::kOther:  // is never written
      break;
  }
  Hid text(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(text.get(), H5T_VARIABLE);
  H5Tset_cset(text.get(), H5T_CSET_UTF8);
  return text;
}

std::size_t stored_size(VariableType type) {
  switch (type) {
    case VariableType::kDouble:
    case VariableType::kInt64:
      return 8;
    case VariableType::kInt8:
      return 1;
    case VariableType::kText:
    case VariableType::kOther:  // is never written
      break;
  }
  return 16;  // length, heap address, index
}

std::vector<hsize_t> chunk_shape(const VariableLayout& layout) {
  if (layout.type == VariableType::kText) return {};
  return chunk_shape(layout.shape, stored_size(layout.type));
}

std::vector<hsize_t> chunk_shape(const std::vector<hsize_t>& shape, std::size_t value_bytes) {
  hsize_t total = value_bytes;
  for (const hsize_t length : shape) total *= length;
  if (total <= kMaxCompactBytes) return {};
  std::vector<hsize_t> chunk = shape;
  const hsize_t slice_bytes = total / chunk[0];
  const hsize_t wanted = chunk.size() == 1 ? kMaxChunkBytes : kMinChunkBytes;
  chunk[0] = std::clamp<hsize_t>(wanted / slice_bytes, 1, chunk[0]);
  hsize_t bytes = slice_bytes * chunk[0];
  for (std::size_t axis = 1; axis < chunk.size() && bytes > kMaxChunkBytes; ++axis) {
    const hsize_t row_bytes = bytes / chunk[axis];
    chunk[axis] = std::max<hsize_t>(kMaxChunkBytes / row_bytes, 1);
    bytes = row_bytes * chunk[axis];
  }
  return chunk;
}

Hid create_variable(hid_t group,
                    const std::string& name,
                    const VariableLayout& layout,
                    const Place& place) {
  const Hid creation = object_properties(H5P_DATASET_CREATE, place);
  set_fill_value(creation.get(), layout.type, place);
  const std::vector<hsize_t> chunk = chunk_shape(layout);
  bool ok = true;
  if (!chunk.empty()) {
    ok = H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data()) >= 0 &&
         (stored_size(layout.type) == 1 || H5Pset_shuffle(creation.get()) >= 0) &&
         H5Pset_deflate(creation.get(), kDeflateLevel) >= 0 &&
         H5Pset_fletcher32(creation.get()) >= 0;
  } else if (layout.type != VariableType::kText && num_bytes(layout) > 0) {
    ok = H5Pset_layout(creation.get(), H5D_COMPACT) >= 0;
  }
  if (!ok) fail(place, "set its storage");

  const int rank = static_cast<int>(layout.shape.size());
  const Hid space = require(
      Hid(rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, layout.shape.data(), nullptr),
          H5Sclose),
      place,
      "set its shape");
  const Hid type = require(file_type(layout.type), place, "set its type");
  return require(Hid(H5Dcreate2(group,
                                name.c_str(),
                                type.get(),
                                space.get(),
                                H5P_DEFAULT,
                                creation.get(),
                                H5P_DEFAULT),
                     H5Dclose),
                 place,
                 "create it");
}

void make_coordinate(hid_t variable, const std::string& name, int id, const Place& place) {
  require(H5DSset_scale(variable, name.c_str()), place, "make it a dimension scale");
  write_id(variable, id, place);
}

void create_bare_dimension(
    hid_t group, const std::string& name, hsize_t size, int id, const Place& place) {
  const Hid creation = object_properties(H5P_DATASET_CREATE, place);
  const Hid space = require(Hid(H5Screate_simple(1, &size, nullptr), H5Sclose), place, "size it");
  Hid scale = require(Hid(H5Dcreate2(group,
                                     name.c_str(),
                                     H5T_IEEE_F32BE,
                                     space.get(),
                                     H5P_DEFAULT,
                                     creation.get(),
                                     H5P_DEFAULT),
                          H5Dclose),
                      place,
                      "create it");
  make_coordinate(scale.get(), fmt::format("{}{:10}", kBareDimensionName, size), id, place);
  scale.close_checked(place.text());
}

}  // namespace hesscope::io::netcdf
