// SPDX-License-Identifier: BSD-3-Clause
//
// Groups as bytes: for the finished work of a run, on disk, and for the contents of a result file,
// from an untrusted process. The bytes are fully checked: what cannot be a group is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hesscope/dataset/dataset.h>
#include <hesscope/storage/internal/byte_record.h>

namespace hesscope::io {

void put(ByteWriter& out, const Group& group);

/// False for bytes that put() cannot have written; `group` is then unusable.
bool take(ByteReader& in, Group& group);

std::string to_bytes(const Group& group);

/// @returns nothing for bytes that to_bytes() cannot have written.
std::optional<Group> group_from_bytes(std::string_view bytes);

}  // namespace hesscope::io
