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

/// True for a file, perhaps damaged, with the HDF5 signature where the format allows it.
bool recognises_hdf5(const InputFile& file);

/// Every dataset is a tensor, named by its path without the leading slash: "layers.0.P" in the
/// root, "layers/0/P" in groups. Order: of creation where the file tracks it, else of the names'
/// bytes. A dataset may have several names; a group that two paths lead to is refused.
///
/// Read are floats and integers of 16 to 64 and 8 to 64 bits, booleans as h5py stores them and
/// bfloat16 as Keras does; datasets of other types are unreadable(). A file is refused as a whole,
/// since it must neither reach outside itself nor be larger than it is, for soft, external and
/// user-defined links, external storage, virtual datasets, filters other than deflate, shuffle,
/// Fletcher-32 and szip, data far larger than what is stored for it: of datasets of any type.
///
/// The HDF5 library is not meant for hostile files: damage that passes these checks can still crash
/// it. It is therefore used in a separate process (isolated_reader.h).
/// @throws InputError as open_tensor_file(), with the text of HDF5's error stack and the byte of
///         the
/// object's header.
std::unique_ptr<TensorSource> open_hdf5(std::shared_ptr<const InputFile> file,
                                        const ReadLimits& limits);

/// The same of the bytes of a file, within such a process. @param where  what they are, for
/// messages.
std::unique_ptr<BlockSource> open_hdf5_image(std::string where,
                                             std::vector<std::byte> image,
                                             const ReadLimits& limits);

}  // namespace hesscope::io
