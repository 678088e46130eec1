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
  hid_t space;        ///< what of it is selected
  std::size_t first;  ///< index of the first of these elements, for messages
  const std::string& where;
};

/// Reads the elements selected, out.size() of them.
/// @throws InputError "<where>: ...": damaged data, what decode_elements() refuses.
void read_selection(const Hdf5Selection& from, std::span<double> out);

}  // namespace hesscope::io
