// SPDX-License-Identifier: BSD-3-Clause
//
// The correspondence between HDF5 datatypes and the element types of tensors.
#pragma once

#include <optional>
#include <string_view>

#include <hdf5.h>

#include <hesscope/hdf5/internal/hdf5_handle.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// The element type stored as `type` in either byte order, if there is one: IEEE floats of 64, 32
/// and 16 bits, bfloat16, two's complement and unsigned integers of full precision, h5py's
/// booleans.
std::optional<ElementType> element_type_of(hid_t type);

/// The little-endian type as which elements are written: element_type_of() gives `type` back.
/// Booleans are h5py's, float16 is what h5py reads as such; owns nothing for bfloat16.
Hid stored_type(ElementType type);

/// "strings", "a compound (complex or structured) type", ...: describes any other type, for
/// messages.
std::string_view describe_type(hid_t type);

}  // namespace hesscope::io
