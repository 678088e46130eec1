// SPDX-License-Identifier: BSD-3-Clause
//
// Which tensors of a state_dict() are buffers of PyTorch, judging by their names.
#pragma once

#include <functional>
#include <string>

namespace hesscope::detail {

/// What PyTorch itself keeps in a tensor of this name next to a parameter, "the mask of
/// 0.weight_orig"; empty for all others. Masks are those of pruning (0.weight_mask), and vectors
/// those of spectral normalisation (0.weight_u and 0.weight_v, or
/// 0.parametrizations.weight.0._u and 0.parametrizations.weight.0._v).
/// @param has  whether there is a tensor of a name.
std::string buffer_next_to_a_parameter(const std::string& name,
                                       const std::function<bool(const std::string&)>& has);

/// Whether tensors of this name, also after a prefix, are nearly always buffers: statistics of the
/// inputs or running ones (mean, std, running_mean, running_var), and the frequencies of rotary
/// embeddings (inv_freq).
bool is_name_of_buffers(const std::string& name);

}  // namespace hesscope::detail
