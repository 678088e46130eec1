// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/tensors/tensor_file.h>

namespace hesscope::fuzz {

/// Reads the tensors, each by itself: one that is refused does not hide the next. Those beyond a
/// few thousand elements in all are left out: a kilobyte may well describe megabytes of a stride 0,
/// and reading these again and again finds nothing.
/// @throws std::logic_error where elements and shape disagree, or two tensors have one name.
void read_all(const io::TensorSource& source);

}  // namespace hesscope::fuzz
