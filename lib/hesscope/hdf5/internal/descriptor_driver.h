// SPDX-License-Identifier: BSD-3-Clause
//
// An HDF5 file driver that reads an already open file.
#pragma once

#include <hdf5.h>

#include <hesscope/storage/input_file.h>

namespace hesscope::io {

/// Lets H5Fopen() with the access list `access` read `file`, which must outlive the result,
/// whatever file the given name refers to by then. The file is locked as by HDF5's default driver,
/// so that a file being written by HDF5 is refused.
/// @returns false if HDF5 refuses the driver.
bool use_descriptor_driver(hid_t access, const InputFile& file);

/// Checks what H5Fopen() would refuse without a clear message. Asks for no lock if the environment
/// tells HDF5 not to. @throws InputError if another program has the file open for writing.
void require_no_writer(const InputFile& file);

}  // namespace hesscope::io
