// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <hesscope/dataset/result_reader.h>

namespace hesscope::cli {

/// A result file, for a command that takes nothing else. @throws InputError for one that is
/// missing, damaged, or something else.
io::ResultReader open_result(const std::string& path);

}  // namespace hesscope::cli
