// SPDX-License-Identifier: BSD-3-Clause
#include <mutex>

#include <hesscope/core/error.h>
#include <hesscope/hdf5/internal/hdf5_handle.h>

namespace hesscope::io {
namespace {

extern "C" herr_t keep_first_error(unsigned depth, const H5E_error2_t* error, void* text) {
  if (depth == 0) {
    auto& out = *static_cast<std::string*>(text);
    if (error->func_name != nullptr) out.append(error->func_name).append(": ");
    if (error->desc != nullptr) out.append(error->desc);
  }
  return 0;
}

/// Never destroyed: objects with static storage duration may close files later.
std::mutex& hdf5_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

// For this thread. A recursive mutex would no longer know its owner in a forked child.
thread_local int num_turns = 0;

}  // namespace

Hdf5Turn::Hdf5Turn() {
  if (num_turns == 0) hdf5_mutex().lock();
  ++num_turns;
}

Hdf5Turn::~Hdf5Turn() {
  if (--num_turns == 0) hdf5_mutex().unlock();
}

std::string hdf5_error_text() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, &keep_first_error, &text);
  return text.empty() ? "no details from HDF5" : text;
}

void Hid::close_checked(const std::string& what) {
  if (id_ >= 0 && closer_(std::exchange(id_, H5I_INVALID_HID)) < 0) {
    throw OutputError("closing " + what + ": " + hdf5_error_text());
  }
}

}  // namespace hesscope::io
