// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by models with layers of linear attention: the parameters of a layer.
#pragma once

#include <cstdint>
#include <string>

#include <hesscope/core/settings.h>
#include <hesscope/models/linear_attention.h>
#include <hesscope/models/model.h>

namespace hesscope::detail {

bool is_sparse(LinearAttentionParametrization parametrization);

/// Whether Q = WK^T WQ.
bool is_split(LinearAttentionParametrization parametrization);

struct LinearAttentionHead {
  Var p;  ///< P_full, (d + 1) x (d + 1)
  Var q;  ///< Q_full
};

/// "layers.0.P", or "layers.0.heads.1.P" if there are several heads.
std::string parameter_name(const LinearAttentionOptions& options,
                           std::int64_t layer,
                           std::int64_t head,
                           const char* matrix);

/// Declares the parameters of a head.
LinearAttentionHead declare_head(ModelBuilder& b,
                                 const LinearAttentionOptions& options,
                                 std::int64_t layer,
                                 std::int64_t head);

/// The key `parametrization` of a [model] table.
SettingKey parametrization_key();

/// The value of that key.
LinearAttentionParametrization parametrization_of(const Settings& settings);

}  // namespace hesscope::detail
