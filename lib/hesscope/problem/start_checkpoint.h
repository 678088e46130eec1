// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace hesscope {

/// A checkpoint from which training starts, instead of from a distribution: only the parameters are
/// used, not the optimiser's memory.
struct StartCheckpoint {
  std::filesystem::path path;  ///< may contain "{seed}"; empty for a `run`
  std::string run;             ///< VARIANT/RUN: the end of that run from the same seed
  std::string location;        ///< "FILE:LINE", for messages

  /// The file for a seed. @throws ConfigError for a `run`, which only a reproduction can find.
  std::filesystem::path of_seed(std::uint64_t seed) const;
};

}  // namespace hesscope
