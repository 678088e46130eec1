// SPDX-License-Identifier: BSD-3-Clause
//
// Keys of samplers and their ranges. Private to the samplers.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <hesscope/core/settings.h>
#include <hesscope/sampling/sampler.h>

namespace hesscope::detail {

/// A required size in [1, maximum].
SettingKey count_key(const std::string& name, const std::string& meaning, std::int64_t maximum);

/// A real setting. @throws ConfigError naming the key and the value unless positive and finite.
double positive_from(const Settings& settings, const std::string& key);

/// @throws PreconditionError unless the record has the sampler's size.
void require_record(const Sampler& sampler, std::span<const double> record);

}  // namespace hesscope::detail
