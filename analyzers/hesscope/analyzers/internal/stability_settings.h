// SPDX-License-Identifier: BSD-3-Clause
//
// Which settings of an optimiser apply at a checkpoint, and where each comes from.
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
#include <hesscope/core/status.h>
#include <hesscope/problem/optimizer_state.h>

namespace hesscope::detail {

enum class SettingSource : std::int8_t { kNone = 0, kDefault = 1, kCheckpoint = 2, kOption = 3 };

/// In the order of the enumerators.
inline constexpr std::array<const char*, 4> kSettingSources = {
    "none", "default", "checkpoint", "option"};

/// A setting as it applies to all parameters.
struct EffectiveSetting {
  std::optional<double> value = {};  ///< none where it is not known, or groups differ
  SettingSource source = SettingSource::kNone;

  /// kOk; kNotComputed if groups differ; kNotStored if it is not known.
  Status status() const {
    if (value) return Status::kOk;
    return source == SettingSource::kCheckpoint ? Status::kNotComputed : Status::kNotStored;
  }
};

/// One field of all groups: `given` has priority; then the stored value, if it is the same in every
/// group; then `fallback`.
EffectiveSetting effective(std::span<const OptimizerSettings> groups,
                           std::optional<double> OptimizerSettings::*field,
                           const std::optional<double>& given,
                           const std::optional<double>& fallback = {});

/// Settings that all groups have in common.
OptimizerSettings common_settings(std::span<const OptimizerSettings> groups);

/// Whether it trains all parameters, as far as is known.
bool trains_all(const OptimizerState& state);

/// Whether the learning rate of its updates is a limit to the curvature of the whole loss: not if
/// it ascends, and not if it leaves out parameters, whose curvature it does not see.
bool has_limit(const OptimizerState& state);

/// has_limit() in the definitions of what has no value otherwise.
inline constexpr char kLimitInWords[] =
    "; not computed if the checkpoint's optimiser ascends or does not train all parameters";

/// True for Adam and for optimisers that differ from it only in how they average.
bool is_of_adams_family(OptimizerKind kind);

enum class PreconditionerChoice { kNone, kAdam, kStored };

/// Says that decays of averages of gradients are assumed, if a checkpoint has second moments and
/// the step by which they are corrected, but neither it nor the user gives the decays: P depends on
/// them.
std::vector<std::string> remarks_on_assumed_averages(std::span<const OptimizerState> optimizers,
                                                     const GivenSettings& given);

/// Says of checkpoints without has_limit() that their curvature is not compared with a limit.
std::vector<std::string> remarks_on_limits(std::span<const OptimizerState> optimizers);

/// What the user should know about how the settings and second moments of checkpoints are used:
/// what is assumed, what the given settings contradict, why a threshold is not known. One sentence
/// each, with the first checkpoint for which it is true.
/// @throws InputError naming the file if the choice needs second moments that are there but cannot
///         be used, unless `is_recomputed`.
std::vector<std::string> remarks_on_optimizers(std::span<const OptimizerState> optimizers,
                                               std::span<const ParameterBlock> blocks,
                                               const GivenSettings& given,
                                               PreconditionerChoice choice,
                                               bool is_recomputed);

}  // namespace hesscope::detail
