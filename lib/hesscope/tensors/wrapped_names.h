// SPDX-License-Identifier: BSD-3-Clause
//
// Checkpoints of models that were wrapped when they were saved.
#pragma once

#include <string>

#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// What wrappers put before the names of all tensors: "module." (torch.nn.DataParallel and
/// DistributedDataParallel) and "_orig_mod." (torch.compile), or several of them. Empty if there is
/// a tensor without it, those of an optimiser ("optimizer.") and single numbers apart.
std::string wrapper_of(const TensorFile& file);

/// The file with names without wrapper_of(); the file itself where there is none.
TensorFile unwrapped(const TensorFile& file);

}  // namespace hesscope::io
