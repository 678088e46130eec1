// SPDX-License-Identifier: BSD-3-Clause
//
// Losses of outputs with one number per class (losses.h).
#pragma once

#include <string>

#include <hesscope/models/internal/target_shapes.h>
#include <hesscope/models/losses.h>

namespace hesscope::detail {

/// For LossKind::kCrossEntropy or kNegativeLogLikelihood; see record_loss().
Var class_loss(ModelBuilder& builder,
               const LossOptions& options,
               Var output,
               const Shape& shape,
               const std::string& target,
               const TensorShapes& data);

}  // namespace hesscope::detail
