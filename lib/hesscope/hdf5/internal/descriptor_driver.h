// SPDX-License-Identifier: BSD-3-Clause
//
// An HDF5 file driver that reads a file that is open already.
#pragma once

#include <hdf5.h>

#include <hesscope/storage/input_file.h>

namespace hesscope::io {

/// Lets H5Fopen() with the access list `access` read `file`, which must outlive what it returns,
/// whatever file the name given to it leads to by now. The file is locked as by HDF5's default
/// driver, so that one that HDF5 is writing is refused.
/// @returns false if HDF5 refuses the driver.
bool use_descriptor_driver(hid_t access, const InputFile& file);

/// What H5Fopen() refuses without saying so to people. Asks for no lock where the environment
/// forbids HDF5 to do so. @throws InputError if another program has the file open for writing.
void require_no_writer(const InputFile& file);

}  // namespace hesscope::io
