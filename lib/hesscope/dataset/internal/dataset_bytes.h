// SPDX-License-Identifier: BSD-3-Clause
//
// Groups as bytes: of what a run has finished, on disk; and of what a result file holds, from a
// process that is not trusted. Nothing of the bytes is believed: what cannot be a group is none.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hesscope/dataset/dataset.h>
#include <hesscope/storage/internal/byte_record.h>

namespace hesscope::io {

void put(ByteWriter& out, const Group& group);

/// False for bytes that put() does not make; `group` is then of no use.
bool take(ByteReader& in, Group& group);

std::string to_bytes(const Group& group);

/// @returns nothing for bytes that to_bytes() does not make.
std::optional<Group> group_from_bytes(std::string_view bytes);

}  // namespace hesscope::io
