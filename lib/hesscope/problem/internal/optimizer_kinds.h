// SPDX-License-Identifier: BSD-3-Clause
//
// Recognises an optimiser by the names of its settings and of its state.
#pragma once

#include <array>
#include <set>
#include <string>
#include <string_view>

#include <hesscope/problem/stored_optimizer.h>

namespace hesscope::detail {

/// What PyTorch's optimisers, and this program's, keep for a parameter. "step" is too common a word
/// to recognise an optimiser by it.
inline constexpr std::array<std::string_view, 13> kMomentFields = {"exp_avg",
                                                                   "exp_avg_sq",
                                                                   "max_exp_avg_sq",
                                                                   "exp_inf",
                                                                   "mu_product",
                                                                   "square_avg",
                                                                   "grad_avg",
                                                                   "momentum_buffer",
                                                                   "acc_delta",
                                                                   "sum",
                                                                   "exp_avg_sq_row",
                                                                   "exp_avg_sq_col",
                                                                   "exp_avg_diff"};

bool is_moment_field(std::string_view name);

/// Whether a number of a group is a possible value: finite, and nonnegative for a learning rate.
bool is_usable_setting(std::string_view key, double value);

/// Fills in kind, obstacle, unknown_keys and the groups' settings, from entries and the groups'
/// numbers.
void recognise_kind(StoredOptimizer& optimizer);

}  // namespace hesscope::detail
