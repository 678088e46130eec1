// SPDX-License-Identifier: BSD-3-Clause
//
// What losses require of the shapes of outputs and targets.
#pragma once

#include <string>
#include <vector>

#include <hesscope/models/model.h>
#include <hesscope/models/tensor_shapes.h>

namespace hesscope::detail {

/// For one sample.
using Shape = std::vector<std::int64_t>;

/// Without trailing ones: a scalar sample may be written as (samples, 1), and a column of outputs
/// as (samples,).
Shape trimmed(Shape shape);

Shape target_shape(const TensorShapes& data, const std::string& target);

Eigen::Index volume_of(const Shape& shape);

/// "(samples, 3, 4)"
std::string with_samples(const Shape& shape);

/// @throws InputError naming data, array and the reason.
[[noreturn]] void refuse_target(const TensorShapes& data,
                                const std::string& target,
                                const std::string& why);

/// 1 x 1.
Var number(ModelBuilder& builder, double value);

}  // namespace hesscope::detail
