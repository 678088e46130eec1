// SPDX-License-Identifier: BSD-3-Clause
//
// HDF5 files as checkpoints. Private to io; reached through format_registry.h.
#pragma once

#include <filesystem>
#include <memory>

#include <hesscope/io/tensor_file.h>

namespace hesscope::io {

/// True for a file, perhaps damaged, with the HDF5 signature where the format allows it.
bool recognises_hdf5(const std::filesystem::path& path);

/// Every dataset is a tensor, named by its path without the leading slash: "layers.0.P" in the
/// root, "layers/0/P" in groups. Order: of creation where the file tracks it, else of the names'
/// bytes.
///
/// Read are floats and integers of 16 to 64 and 8 to 64 bits, and booleans as h5py stores them.
/// Refused, since a file must neither reach outside itself nor be larger than it is: soft, external
/// and user-defined links, external storage, virtual datasets, filters other than deflate, shuffle,
/// Fletcher-32 and szip, data far larger than what is stored for it.
///
/// The HDF5 library is not meant for hostile files: damage that passes these checks can still crash
/// it. What is returned here is therefore usable from behind a process boundary: metadata first,
/// then one tensor at a time.
/// @throws InputError as open_tensor_file(), with the text of HDF5's error stack.
std::unique_ptr<TensorSource> open_hdf5(const std::filesystem::path& path,
                                        const ReadLimits& limits);

}  // namespace hesscope::io
