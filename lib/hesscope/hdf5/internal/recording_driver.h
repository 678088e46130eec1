// SPDX-License-Identifier: BSD-3-Clause
//
// An HDF5 file driver with which a full disk cannot crash the process.
#pragma once

#include <hdf5.h>

namespace hesscope::io {

/// Makes our own driver write a file created with the access list `access`: with POSIX calls as in
/// HDF5's default driver, but a failed write is recorded in `first_error` (an errno, 0 until then)
/// and reported to HDF5 as success. HDF5 must not see it: after a failed write, version 1.10
/// crashes or loops when the process exits, since what it cannot flush keeps the file open forever.
///
/// Users of this must therefore check `first_error` once the file is closed, and before trusting
/// anything read back from it. `first_error` must outlive the file.
/// @returns false if HDF5 refuses the driver.
bool use_recording_driver(hid_t access, int& first_error);

}  // namespace hesscope::io
