// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace hesscope {

/// A checkpoint that training starts from in place of a distribution: the parameters alone, not
/// what an optimiser remembered.
struct StartCheckpoint {
  std::filesystem::path path;  ///< "{seed}" in it stands for the seed; empty for a `run`
  std::string run;             ///< VARIANT/RUN: the end of that run from the same seed
  std::string location;        ///< "FILE:LINE", for messages

  /// The file of a seed. @throws ConfigError for a `run`, which only a reproduction finds.
  std::filesystem::path of_seed(std::uint64_t seed) const;
};

}  // namespace hesscope
