// SPDX-License-Identifier: BSD-3-Clause
//
// Losses of outputs that are a number for each class (losses.h).
#pragma once

#include <string>

#include <hesscope/models/internal/target_shapes.h>
#include <hesscope/models/losses.h>

namespace hesscope::detail {

/// Of LossKind::kCrossEntropy or kNegativeLogLikelihood; as record_loss().
Var class_loss(ModelBuilder& builder,
               const LossOptions& options,
               Var output,
               const Shape& shape,
               const std::string& target,
               const TensorShapes& data);

}  // namespace hesscope::detail
