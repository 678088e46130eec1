// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace hesscope::io {

/// Bounds checked before anything is allocated. A file beyond one of them is refused.
struct ReadLimits {
  std::uint64_t max_file_bytes = std::uint64_t{64} << 30;   ///< whose digest is a matter of minutes
  std::uint64_t max_tensor_bytes = std::uint64_t{8} << 30;  ///< of one tensor, as float64
  /// Decoded / stored bytes, beyond 1 MiB decoded and beyond 16 MiB: deflate reaches 1032 with
  /// zeros only, and a small model has not so many.
  std::uint64_t max_expansion = 1100;
  std::uint64_t max_large_expansion = 100;
  std::size_t max_tensors = 100'000;
  std::size_t max_rank = 32;
  std::size_t max_header_bytes = 16 << 20;  ///< metadata of one tensor or of the file

  /// For the formats read in a separate process (HDF5): its time for the list of tensors, and
  /// for each GiB of a tensor or less; its memory besides the tensor's.
  double max_seconds = 20;
  std::uint64_t max_process_bytes = std::uint64_t{1} << 30;
};

}  // namespace hesscope::io
