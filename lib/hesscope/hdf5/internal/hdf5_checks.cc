// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/hdf5/internal/hdf5_checks.h>
#include <hesscope/storage/internal/read_checks.h>

namespace hesscope::io {

void refuse(const std::string& where, const std::string& what) {
  throw InputError(where + ": " + what);
}

void refuse_call(const std::string& where, const std::string& doing) {
  const std::string text = hdf5_error_text();
  refuse(where, fmt::format("{} failed; the file may be damaged (HDF5: {})", doing, text));
}

Hid checked(hid_t id, Hid::Closer closer, const std::string& where, const std::string& doing) {
  if (id < 0) refuse_call(where, doing);
  return {id, closer};
}

void check_filters(const std::string& where, hid_t properties) {
  constexpr std::array<H5Z_filter_t, 4> kKnown = {
      H5Z_FILTER_DEFLATE, H5Z_FILTER_SHUFFLE, H5Z_FILTER_FLETCHER32, H5Z_FILTER_SZIP};
  const int count = H5Pget_nfilters(properties);
  if (count < 0) refuse_call(where, "reading its filters");
  std::vector<H5Z_filter_t> seen;
  for (int i = 0; i < count; ++i) {
    unsigned flags = 0;
    unsigned config = 0;
    std::size_t num_values = 0;
    std::array<char, 64> name{};
    const H5Z_filter_t filter = H5Pget_filter2(properties,
                                               static_cast<unsigned>(i),
                                               &flags,
                                               &num_values,
                                               nullptr,
                                               name.size() - 1,
                                               name.data(),
                                               &config);
    if (std::ranges::find(kKnown, filter) == kKnown.end()) {
      refuse(
          where,
          fmt::format(
              "it is compressed with filter {} '{}'; gzip, shuffle, fletcher32 and szip are read: "
              "re-save it with compression='gzip' or none",
              filter,
              escaped(name.data())));
    }
    if (std::ranges::find(seen, filter) != seen.end()) {
      refuse(where, fmt::format("filter {} is applied twice", filter));
    }
    seen.push_back(filter);
  }
}

namespace {

/// For a dataset for which, or for whose file, this many bytes are stored.
void check_decoded_size(const std::string& where,
                        hid_t properties,
                        std::span<const std::int64_t> shape,
                        std::uint64_t element_bytes,
                        std::uint64_t stored_bytes,
                        const ReadLimits& limits) {
  const std::uint64_t num_elements = checked_num_elements(where, shape, limits);
  check_expansion(where, num_elements * element_bytes, stored_bytes, limits);
  if (H5Pget_layout(properties) != H5D_CHUNKED) return;

  // HDF5 decodes whole chunks, which may be larger than the dataset they hold.
  std::vector<hsize_t> chunk(shape.size());
  if (H5Pget_chunk(properties, static_cast<int>(chunk.size()), chunk.data()) < 0) {
    refuse_call(where, "reading its chunk size");
  }
  const std::vector<std::int64_t> chunk_shape(chunk.begin(), chunk.end());
  const std::string chunk_where = where + ": its chunk";
  const std::uint64_t chunk_elements = checked_num_elements(chunk_where, chunk_shape, limits);
  if (num_elements != 0) {
    check_expansion(chunk_where, chunk_elements * element_bytes, stored_bytes, limits);
  }
}

}  // namespace

void check_storage(const std::string& where,
                   hid_t dataset,
                   hid_t properties,
                   std::span<const std::int64_t> shape,
                   std::uint64_t file_bytes,
                   const ReadLimits& limits) {
  const std::uint64_t stored_bytes = H5Dget_storage_size(dataset);
  if (stored_bytes > file_bytes) {
    refuse(
        where,
        fmt::format("it claims {} stored bytes in a file of {} bytes", stored_bytes, file_bytes));
  }
  const Hid type = checked(H5Dget_type(dataset), H5Tclose, where, "reading its type");
  check_decoded_size(where, properties, shape, H5Tget_size(type.get()), stored_bytes, limits);
}

void check_storage_in_file(const std::string& where,
                           hid_t properties,
                           std::span<const std::int64_t> shape,
                           std::uint64_t element_bytes,
                           std::uint64_t file_bytes,
                           const ReadLimits& limits) {
  check_decoded_size(where, properties, shape, element_bytes, file_bytes, limits);
}

void check_layout(const std::string& where, hid_t properties) {
  if (H5Pget_external_count(properties) != 0) {
    refuse(where, "its data lies in another file (external storage), which is not followed");
  }
  const H5D_layout_t layout = H5Pget_layout(properties);
  if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED) {
    refuse(where, "it is a virtual dataset, put together from other files, which is not followed");
  }
}

}  // namespace hesscope::io
