// SPDX-License-Identifier: BSD-3-Clause
//
// Checkpoints of models that were saved inside a wrapper.
#pragma once

#include <string>

#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// The prefix that wrappers add to the names of all tensors: "module." (torch.nn.DataParallel and
/// DistributedDataParallel) and "_orig_mod." (torch.compile), or several of them. Empty if any
/// tensor lacks it, not counting single numbers and an optimiser's tensors ("optimizer.").
std::string wrapper_of(const TensorFile& file);

/// The file with wrapper_of() removed from all names; the file itself if there is no wrapper.
TensorFile unwrapped(const TensorFile& file);

}  // namespace hesscope::io
