// SPDX-License-Identifier: BSD-3-Clause
//
// Common parts of our HDF5 drivers, which read and write files instead of HDF5's own.
#pragma once

#include <cstddef>
#include <mutex>

#include <hdf5.h>

namespace hesscope::io {

/// An open file of a driver. HDF5 sees only the base class.
struct DriverFile : H5FD_t {
  haddr_t end_of_allocation = 0;
};

/// Everything except open, close, query, get_eof, read, write and the optional members.
/// @param value      one of those for drivers that are not registered with HDF5, 256 to 511.
/// @param info_size  size of the data in its access lists, which HDF5 copies bytewise.
H5FD_class_t driver_class_of(const char* name, int value, std::size_t info_size);

/// A driver registered with HDF5. Safe to use concurrently.
class RegisteredDriver {
 public:
  explicit RegisteredDriver(const H5FD_class_t& driver) : driver_(driver) {}

  /// Makes `access` open files with this driver. @param info is copied.
  bool use(hid_t access, const void* info);

 private:
  const H5FD_class_t driver_;
  std::mutex mutex_;
  hid_t id_ = H5I_INVALID_HID;
};

}  // namespace hesscope::io
