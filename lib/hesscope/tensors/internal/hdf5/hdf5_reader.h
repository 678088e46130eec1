// SPDX-License-Identifier: BSD-3-Clause
//
// HDF5 files as checkpoints. Reached through format_registry.h.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/internal/isolated_reader.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// True for a file, even a damaged one, with the HDF5 signature where the format allows it.
bool recognises_hdf5(const InputFile& file);

/// Every dataset is a tensor, named by its path without the leading slash: "layers.0.P" in the
/// root, "layers/0/P" in groups. Order: that of creation if the file tracks it, else that of the
/// names' bytes. A dataset may have several names; a group to which two paths lead is refused.
///
/// Readable are floats of 16 to 64 bits and integers of 8 to 64 bits, booleans as stored by h5py
/// and bfloat16 as stored by Keras; datasets of other types are unreadable(). A file must neither
/// reach outside itself nor be larger than it is. It is therefore refused as a whole for soft,
/// external and user-defined links, and for datasets of any type with external storage, virtual
/// datasets, filters other than deflate, shuffle, Fletcher-32 and szip, or data far larger than
/// what is stored for them.
///
/// The HDF5 library is not meant for hostile files: damage that passes these checks can still crash
/// it. It is therefore used in a separate process (isolated_reader.h).
/// @throws InputError as open_tensor_file(), with the text of HDF5's error stack and the byte of
///         the object's header.
std::unique_ptr<TensorSource> open_hdf5(std::shared_ptr<const InputFile> file,
                                        const ReadLimits& limits);

/// The same for the bytes of a file, within such a process. @param where  a description of them,
/// for messages.
std::unique_ptr<BlockSource> open_hdf5_image(std::string where,
                                             std::vector<std::byte> image,
                                             const ReadLimits& limits);

}  // namespace hesscope::io
