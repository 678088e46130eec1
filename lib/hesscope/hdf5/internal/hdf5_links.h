// SPDX-License-Identifier: BSD-3-Clause
//
// The links of an HDF5 group, and the positions in the file of the objects they lead to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <hesscope/hdf5/internal/hdf5_handle.h>

namespace hesscope::io {

struct Hdf5Link {
  std::string name;
  bool is_hard = false;       ///< otherwise soft, external or user-defined
  std::uint64_t address = 0;  ///< of the object's header if hard, relative to the superblock
};

/// In order of creation if the file tracks it, else in the order of the names' bytes; `most` + 1 of
/// them if there are more than `most`.
/// @throws InputError "<where>: ..."; also if two have the same name.
std::vector<Hdf5Link> links_of(hid_t group, std::size_t most, const std::string& where);

/// The address of the object's header, relative to the superblock. @throws InputError "<where>:
/// ..."
std::uint64_t address_of(hid_t object, const std::string& where);

}  // namespace hesscope::io
