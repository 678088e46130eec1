// SPDX-License-Identifier: BSD-3-Clause
//
// Which settings of an optimiser count at a checkpoint, and where each is from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/analyzers/optimizer_preconditioner.h>
#include <hesscope/core/parameter_block.h>
#include <hesscope/problem/optimizer_state.h>

namespace hesscope::detail {

enum class SettingSource : std::int8_t { kNone = 0, kDefault = 1, kCheckpoint = 2, kOption = 3 };

/// In the order of the enumerator values.
inline constexpr std::array<const char*, 4> kSettingSources = {
    "none", "default", "checkpoint", "option"};

/// A setting as it counts for all parameters.
struct EffectiveSetting {
  std::optional<double> value = {};  ///< none where it is not known, or groups differ
  SettingSource source = SettingSource::kNone;
};

/// One field of all groups: `given` wins; else what is stored, if it is the same in every group;
/// else `fallback`.
EffectiveSetting effective(std::span<const OptimizerSettings> groups,
                           std::optional<double> OptimizerSettings::*field,
                           const std::optional<double>& given,
                           const std::optional<double>& fallback = {});

/// Settings that all groups have in common.
OptimizerSettings common_settings(std::span<const OptimizerSettings> groups);

/// True for Adam and what only differs from it in how it averages.
bool is_of_adams_family(OptimizerKind kind);

enum class PreconditionerChoice { kNone, kAdam, kStored };

/// That decays of averages of gradients are assumed where a checkpoint has second moments and the
/// step they are corrected for, but neither it nor the user says them: what P is hangs on them.
std::vector<std::string> remarks_on_assumed_averages(std::span<const OptimizerState> optimizers,
                                                     const GivenSettings& given);

/// What the user should know of how the settings and second moments of checkpoints are taken: what
/// is assumed, what the given settings contradict, why a threshold is not known. One sentence each,
/// by the first checkpoint that it is true of.
/// @throws InputError naming the file where the choice needs second moments that are there but
///         cannot be used, unless `is_recomputed`.
std::vector<std::string> remarks_on_optimizers(std::span<const OptimizerState> optimizers,
                                               std::span<const ParameterBlock> blocks,
                                               const GivenSettings& given,
                                               PreconditionerChoice choice,
                                               bool is_recomputed);

}  // namespace hesscope::detail
