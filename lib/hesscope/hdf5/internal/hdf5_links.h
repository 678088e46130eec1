// SPDX-License-Identifier: BSD-3-Clause
//
// The links of an HDF5 group, and where in the file the objects are that they lead to.
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
  std::uint64_t address = 0;  ///< of the object's header if it is hard, from the superblock on
};

/// In order of creation where the file tracks it, else of the names' bytes; one more than `most` if
/// there are more.
/// @throws InputError "<where>: ..."; also where two have the same name.
std::vector<Hdf5Link> links_of(hid_t group, std::size_t most, const std::string& where);

/// Of the object's header, from the superblock on. @throws InputError "<where>: ..."
std::uint64_t address_of(hid_t object, const std::string& where);

}  // namespace hesscope::io
