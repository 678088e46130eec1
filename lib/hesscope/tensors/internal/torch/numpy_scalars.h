// SPDX-License-Identifier: BSD-3-Clause
//
// Single NumPy numbers in a pickle: np.float64(0.1), as schedules store learning rates.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include <hesscope/tensors/internal/torch/pickle_nodes.h>

namespace hesscope::io {

using PickledNumber = std::variant<bool, std::int64_t, double>;

/// The number that numpy.core.multiarray.scalar(dtype, bytes) stands for: a truth value, an
/// integer, or a real of up to 64 bits, whose number of bytes fits its type. Nothing for everything
/// else, such as dates, complex numbers, and anything that is not exactly what NumPy writes;
/// nothing is called. An integer beyond 2^63 - 1 is rounded to a double.
std::optional<PickledNumber> numpy_scalar(const PickleDocument& document, PickleIndex node);

}  // namespace hesscope::io
