// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace hesscope::fuzz {

/// libFuzzer's custom mutator for zip archives, which random changes would hardly get past CRC-32
/// and directory. Most often the content of one member changes, and the archive is put together
/// again around it; its header fields otherwise stay as they are, so that their own mutations last.
/// Deflated content is inflated and deflated again, or changed as it is. Sometimes the archive is
/// changed as bytes, with its checksums put right afterwards or without.
/// @return the new size, at most `max_size`.
std::size_t mutate_archive(std::uint8_t* data,
                           std::size_t size,
                           std::size_t max_size,
                           unsigned int seed);

}  // namespace hesscope::fuzz
