// SPDX-License-Identifier: BSD-3-Clause
//
// Keys under which parameters might stand. Private to problem.
#pragma once

#include <set>
#include <string>

#include <hesscope/io/tensor_file.h>

namespace hesscope::detail {

/// All keys (TensorFile::part) that tensors stand under, those of an optimiser apart; of very many,
/// some.
std::set<std::string> keys_in(const io::TensorFile& checkpoint);

}  // namespace hesscope::detail
