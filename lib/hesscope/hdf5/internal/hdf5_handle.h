// SPDX-License-Identifier: BSD-3-Clause
//
// The basis for using the HDF5 C API from C++: handles that close themselves, the error stack as
// text, and suppression of its output.
#pragma once

#include <string>
#include <utility>

#include <hdf5.h>

namespace hesscope::io {

/// Text of the innermost entry of the calling thread's HDF5 error stack: the first thing that went
/// wrong, such as "H5FD_sec2_open: unable to open file: ... No such file". Must be called right
/// after the failing call, since the next HDF5 call clears the stack. "no details from HDF5" if the
/// stack is empty.
std::string hdf5_error_text();

/// While it lives, no other thread of ours is inside HDF5: builds that are not thread-safe are used
/// by one thread at a time, and a child forked meanwhile finds HDF5 at rest. Nests.
class Hdf5Turn {
 public:
  Hdf5Turn();
  ~Hdf5Turn();
  Hdf5Turn(const Hdf5Turn&) = delete;
  Hdf5Turn& operator=(const Hdf5Turn&) = delete;
};

/// While it lives, this thread holds the Hdf5Turn and HDF5 prints no error stacks. The previous
/// setting is restored, so that a program that uses HDF5 itself keeps its own.
class QuietHdf5 {
 public:
  QuietHdf5() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }

  ~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;

 private:
  Hdf5Turn turn_;
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// Sole owner of an HDF5 identifier.
///
///   Hid file(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
///   if (!file) throw InputError(... + hdf5_error_text());
class Hid {
 public:
  using Closer = herr_t (*)(hid_t);

  Hid() = default;

  /// Takes over `id` as returned by an HDF5 call; a negative one (the call failed) owns nothing.
  Hid(hid_t id, Closer closer) : id_(id), closer_(closer) {}

  /// Closes without a check: on the way out of an error, or where closing cannot lose data.
  ~Hid() { reset(); }

  Hid(Hid&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), closer_(other.closer_) {}

  Hid& operator=(Hid&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
      closer_ = other.closer_;
    }
    return *this;
  }

  hid_t get() const { return id_; }

  explicit operator bool() const { return id_ >= 0; }

  /// Closes now. Writers must call this: on a full disk, HDF5 reports the loss on closing. Does
  /// nothing for a handle that owns nothing.
  /// @throws OutputError "closing <what>: <HDF5's text>". The handle owns nothing afterwards.
  void close_checked(const std::string& what);

 private:
  void reset() noexcept {
    if (id_ < 0) return;
    const QuietHdf5 quiet;
    closer_(std::exchange(id_, H5I_INVALID_HID));
  }

  hid_t id_ = H5I_INVALID_HID;
  Closer closer_ = nullptr;
};

}  // namespace hesscope::io
