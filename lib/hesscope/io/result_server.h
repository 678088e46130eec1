// SPDX-License-Identifier: BSD-3-Clause
//
// Reads a result file: for a process of its own (isolated_file.h). Private to io.
#pragma once

#include <filesystem>
#include <memory>

#include <hesscope/io/hdf5_handle.h>
#include <hesscope/io/isolated_file.h>

namespace hesscope::io {

/// For reading only, with no code (filter plugins) from a path in the environment.
Hid open_result_file(const std::filesystem::path& path);

/// Its listing is a ResultListing; arrays are its variables, integers in the bits of doubles.
/// @throws InputError for what is not HDF5, or damaged.
std::unique_ptr<FileServer> serve_result(const std::filesystem::path& path);

}  // namespace hesscope::io
