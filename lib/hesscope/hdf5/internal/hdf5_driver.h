// SPDX-License-Identifier: BSD-3-Clause
//
// What our drivers of HDF5, which read and write files in its place, have in common.
#pragma once

#include <cstddef>
#include <mutex>

#include <hdf5.h>

namespace hesscope::io {

/// An open file of a driver. HDF5 sees the base only.
struct DriverFile : H5FD_t {
  haddr_t end_of_allocation = 0;
};

/// All but open, close, query, get_eof, read, write and what a driver need not have.
/// @param value      one of those for drivers that are not registered with HDF5, 256 to 511.
/// @param info_size  of what its access lists carry; HDF5 copies it bytewise.
H5FD_class_t driver_class_of(const char* name, int value, std::size_t info_size);

/// A driver that HDF5 knows. Safe to use concurrently.
class RegisteredDriver {
 public:
  explicit RegisteredDriver(const H5FD_class_t& driver) : driver_(driver) {}

  /// Has `access` open files by it. @param info is copied.
  bool use(hid_t access, const void* info);

 private:
  const H5FD_class_t driver_;
  std::mutex mutex_;
  hid_t id_ = H5I_INVALID_HID;
};

}  // namespace hesscope::io
