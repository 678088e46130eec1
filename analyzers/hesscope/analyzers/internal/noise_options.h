// SPDX-License-Identifier: BSD-3-Clause
//
// Options of the noise analyzer.
#pragma once

#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/settings.h>

namespace hesscope::detail {

inline constexpr Eigen::Index kDefaultNoiseBatchSize = 64;

struct NoiseOptions {
  enum class Draws : std::int8_t { kResampled, kDisjoint, kFresh };

  Eigen::Index batch_size = 0;  // 0: kDefaultNoiseBatchSize, or all samples if they are fewer
  Eigen::Index num_draws = 1000;
  Draws draws = Draws::kResampled;
  Eigen::Index reference_batches = 100;  // of fresh minibatches
  Eigen::Index num_bins = 100;
  std::vector<Eigen::Index> ladder = {};  // further batch sizes
};

std::vector<SettingKey> noise_option_keys();

/// @throws ConfigError for an invalid ladder.
NoiseOptions noise_options_from(const Settings& settings);

}  // namespace hesscope::detail
