// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {

/// Einsum with any number of operands: "ij,jk->ik", "...ij->...ji", "bii->bi", "ij,jk,kl". Operands
/// are combined from the left, each pair by a product of stacked matrices.
Values lower_einsum(const OperatorCall& call);

}  // namespace hesscope::onnx
