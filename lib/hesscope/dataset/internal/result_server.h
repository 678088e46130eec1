// SPDX-License-Identifier: BSD-3-Clause
//
// Reads a result file in a separate process (isolated_file.h).
#pragma once

#include <memory>

#include <hesscope/hdf5/internal/hdf5_handle.h>
#include <hesscope/isolation/internal/isolated_file.h>
#include <hesscope/storage/input_file.h>

namespace hesscope::io {

/// Opens it read-only, without code (filter plugins) from a path in the environment. `file` must
/// outlive it.
Hid open_result_file(const InputFile& file);

/// The listing is a ResultListing; arrays are its variables, with integers stored in the bits of
/// doubles. A variable that is not read because it lies elsewhere or is far larger than the file is
/// listed with the reason.
/// @throws InputError for what is not HDF5, or damaged.
std::unique_ptr<FileServer> serve_result(std::shared_ptr<const InputFile> file,
                                         const ReadLimits& limits);

}  // namespace hesscope::io
