// SPDX-License-Identifier: BSD-3-Clause
//
// NumPy archives (np.savez, np.savez_compressed) and single arrays (np.save). Reached through
// format_registry.h.
#pragma once

#include <memory>

#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// True for a zip archive, even a damaged one, whose first member is named *.npy, and for an empty
/// one.
bool recognises_npz(const InputFile& file);

/// Every member is an array, named as by NumPy, without ".npy": "layers.0.P".
/// @throws InputError as open_tensor_file().
std::unique_ptr<TensorSource> open_npz(std::shared_ptr<const InputFile> file,
                                       const ReadLimits& limits);

/// True for a file that begins as np.save writes it.
bool recognises_npy(const InputFile& file);

/// One tensor, named after the file without its extension.
/// @throws InputError as open_tensor_file().
std::unique_ptr<TensorSource> open_npy(std::shared_ptr<const InputFile> file,
                                       const ReadLimits& limits);

}  // namespace hesscope::io
