// SPDX-License-Identifier: BSD-3-Clause
//
// Elements of an open HDF5 dataset as doubles.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <hesscope/hdf5/internal/hdf5_handle.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

struct Hdf5Selection {
  hid_t dataset;
  ElementType type;   ///< of its elements
  hid_t space;        ///< the selected part
  std::size_t first;  ///< index of the first of these elements, for messages
  const std::string& where;
};

/// Reads the selected elements, out.size() of them.
/// @throws InputError "<where>: ..." for damaged data, and whatever decode_elements() refuses.
void read_selection(const Hdf5Selection& from, std::span<double> out);

}  // namespace hesscope::io
