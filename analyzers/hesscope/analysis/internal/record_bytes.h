// SPDX-License-Identifier: BSD-3-Clause
//
// Records as bytes, for the units of a run that is not finished. The bytes are read by the program
// that wrote them (its version is part of a run's configuration), on the same machine: they have no
// other readers and no versions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hesscope/analyzers/record.h>

namespace hesscope {

std::string to_bytes(const Record& record);

/// The record, equal to the last bit; nothing if these are not a record's bytes.
std::optional<Record> record_from_bytes(std::string_view bytes);

}  // namespace hesscope
