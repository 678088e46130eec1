// SPDX-License-Identifier: BSD-3-Clause
//
// Keys under which parameters might be stored.
#pragma once

#include <set>
#include <string>

#include <hesscope/tensors/tensor_file.h>

namespace hesscope::detail {

/// All keys (TensorFile::part) under which there are tensors, except those of an optimiser; some of
/// them if there are very many.
std::set<std::string> keys_in(const io::TensorFile& checkpoint);

}  // namespace hesscope::detail
