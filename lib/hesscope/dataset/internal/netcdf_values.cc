// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <hdf5.h>

#include <hesscope/dataset/internal/netcdf_values.h>

namespace hesscope::io::netcdf {
namespace {

Hid space_in_memory(const Slab& slab) {
  if (slab.count.empty()) return {H5Screate(H5S_SCALAR), H5Sclose};
  return {H5Screate_simple(static_cast<int>(slab.count.size()), slab.count.data(), nullptr),
          H5Sclose};
}

Hid space_in_file(hid_t variable, const Slab& slab) {
  Hid space(H5Dget_space(variable), H5Sclose);
  if (space && !slab.count.empty() &&
      H5Sselect_hyperslab(
          space.get(), H5S_SELECT_SET, slab.start.data(), nullptr, slab.count.data(), nullptr) <
          0) {
    return {};
  }
  return space;
}

// For text, HDF5 clears its conversion buffers in every call: a mebibyte each by default.
Hid transfer_properties(std::size_t num_bytes) {
  constexpr std::size_t kMinBuffer = 4096;
  constexpr std::size_t kMaxBuffer = std::size_t{1} << 20;
  Hid transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
  const std::size_t buffer = std::clamp(num_bytes, kMinBuffer, kMaxBuffer);
  if (!transfer || H5Pset_buffer(transfer.get(), buffer, nullptr, nullptr) < 0) return {};
  return transfer;
}

}  // namespace

void write_values(hid_t variable,
                  const Slab& slab,
                  const VariableValues& values,
                  const Place& place) {
  const auto type_of_values = static_cast<VariableType>(values.index());
  const auto [data, size] = std::visit(
      [](const auto& span) {
        return std::pair<const void*, std::size_t>(span.data(), span.size());
      },
      values);
  std::vector<const char*> texts;
  if (const auto* strings = std::get_if<std::span<const std::string>>(&values)) {
    for (const std::string& text : *strings) {
      require_text(place, text);
      texts.push_back(text.c_str());
    }
  }
  const Hid type = memory_type(type_of_values);
  const Hid memory = space_in_memory(slab);
  const Hid file = space_in_file(variable, slab);
  const Hid transfer = transfer_properties(size * stored_size(type_of_values));
  if (!type || !memory || !file || !transfer ||
      H5Dwrite(variable,
               type.get(),
               memory.get(),
               file.get(),
               transfer.get(),
               texts.empty() ? data : texts.data()) < 0) {
    fail(place, "write it");
  }
}

}  // namespace hesscope::io::netcdf
