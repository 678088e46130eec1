// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace hesscope::io {

/// Limits that are checked before anything is allocated. A file that exceeds one of them is
/// refused.
struct ReadLimits {
  std::uint64_t max_file_bytes = std::uint64_t{64} << 30;   ///< computing its digest takes minutes
  std::uint64_t max_tensor_bytes = std::uint64_t{8} << 30;  ///< of one tensor, as float64
  /// Decoded / stored bytes, for more than 1 MiB and more than 16 MiB decoded: deflate reaches a
  /// ratio of 1032 on zeros only, and a small model does not have so many zeros.
  std::uint64_t max_expansion = 1100;
  std::uint64_t max_large_expansion = 100;
  std::size_t max_tensors = 100'000;
  std::size_t max_rank = 32;
  std::size_t max_header_bytes = 16 << 20;  ///< metadata of one tensor or of the file

  /// For the formats that are read in a separate process (HDF5): its time for the list of tensors,
  /// and for each tensor per GiB or part of it; and its memory in addition to the tensor's.
  double max_seconds = 20;
  std::uint64_t max_process_bytes = std::uint64_t{1} << 30;
};

}  // namespace hesscope::io
