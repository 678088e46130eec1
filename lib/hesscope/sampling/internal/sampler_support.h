// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by samplers: keys and their ranges, checks, draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include <Eigen/Core>

#include <hesscope/core/settings.h>
#include <hesscope/sampling/random_stream.h>
#include <hesscope/sampling/sampler.h>

namespace hesscope::detail {

/// A size_key() that is not required.
SettingKey optional_size_key(const std::string& name,
                             const std::string& meaning,
                             std::int64_t maximum);

/// Checks that all of these optional keys are there, or that none is.
/// @param because  what requires or excludes them, as in `covariates = "gamma"`.
/// @throws ConfigError naming the first key that is missing or superfluous.
void require_keys(const Settings& settings,
                  std::initializer_list<const char*> keys,
                  bool are_wanted,
                  const std::string& because);

/// A seed; its fallback is 0.
SettingKey seed_key(const std::string& name, const std::string& meaning);

/// The value of such a key.
std::uint64_t seed_from(const Settings& settings, const std::string& key);

/// @throws PreconditionError unless the record has the sampler's size.
void require_record(const Sampler& sampler, std::span<const double> record);

/// Entries N(0, std^2), drawn row by row.
Eigen::MatrixXd normal_matrix(RandomStream& random,
                              Eigen::Index rows,
                              Eigen::Index cols,
                              double std);

/// Writes N(0, std^2) to `count` <= out.size() entries, each subset being equally likely. The
/// others must be zero and stay so.
void draw_sparse_noise(RandomStream& random, std::size_t count, double std, std::span<double> out);

}  // namespace hesscope::detail
