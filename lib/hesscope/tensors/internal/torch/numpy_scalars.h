// SPDX-License-Identifier: BSD-3-Clause
//
// Single numbers of NumPy in a pickle: np.float64(0.1), as learning rates of schedules are.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include <hesscope/tensors/internal/torch/pickle_nodes.h>

namespace hesscope::io {

using PickledNumber = std::variant<bool, std::int64_t, double>;

/// What numpy.core.multiarray.scalar(dtype, bytes) would be: a truth value, an integer, or a real
/// of up to 64 bits, whose bytes are as many as its type has. Nothing for all else, such as dates,
/// complex numbers, and whatever is not exactly what NumPy writes; nothing is called. An integer
/// beyond 2^63 - 1 is rounded to a double.
std::optional<PickledNumber> numpy_scalar(const PickleDocument& document, PickleIndex node);

}  // namespace hesscope::io
