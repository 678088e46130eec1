// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace hesscope::fuzz {

/// libFuzzer's custom mutator for serialised protobuf messages, whose lengths random changes would
/// hardly leave right. Most often one field, at any depth, changes, goes, comes twice, or takes
/// what another field holds (so that names meet); all messages around it get the length that they
/// then have. Sometimes the file is changed as bytes.
/// @return the new size, at most `max_size`.
std::size_t mutate_message(std::uint8_t* data,
                           std::size_t size,
                           std::size_t max_size,
                           unsigned int seed);

}  // namespace hesscope::fuzz
