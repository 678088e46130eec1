// SPDX-License-Identifier: BSD-3-Clause
//
// Which HDF5 datatypes are tensors' element types. Private to io.
#pragma once

#include <optional>
#include <string_view>

#include <hdf5.h>

#include <hesscope/io/tensor_file.h>

namespace hesscope::io {

/// The element type stored as `type` in either byte order, if it is one: IEEE floats of 64, 32 and
/// 16 bits, bfloat16, two's complement and unsigned integers of full precision, h5py's booleans.
std::optional<ElementType> element_type_of(hid_t type);

/// "strings", "a compound (complex or structured) type", ...: of a type that is none, for messages.
std::string_view describe_type(hid_t type);

}  // namespace hesscope::io
