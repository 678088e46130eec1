// SPDX-License-Identifier: BSD-3-Clause
//
// Keys under which parameters might stand.
#pragma once

#include <set>
#include <string>

#include <hesscope/tensors/tensor_file.h>

namespace hesscope::detail {

/// All keys (TensorFile::part) that tensors stand under, those of an optimiser apart; of very many,
/// some.
std::set<std::string> keys_in(const io::TensorFile& checkpoint);

}  // namespace hesscope::detail
