// SPDX-License-Identifier: BSD-3-Clause
//
// HDF5 files under locks, and on file systems that have none.
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"
#include "support/refusal.h"

namespace {

int error_of_locks = 0;  // of all that are asked for; 0 = as the system says

}  // namespace

/// In place of the C library's, in this program.
extern "C" int flock(int descriptor, int operation) {
  if (error_of_locks == 0) return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
  errno = error_of_locks;
  return -1;
}

namespace hesscope::io {
namespace {

const std::filesystem::path& locked_file() {
  static const std::filesystem::path path = test::fixtures() / "signal-noise" / "step-000000.h5";
  return path;
}

TEST(Hdf5Locks, AreNotNeededToRead) {
  for (const int error : {ENOSYS, ENOLCK, EOPNOTSUPP, EINVAL}) {
    error_of_locks = error;
    EXPECT_NO_THROW(open_tensor_file(locked_file())) << error;
    error_of_locks = 0;
  }
}

TEST(Hdf5Locks, OfAWriterAreToldFromDamage) {
  error_of_locks = EWOULDBLOCK;
  test::expect_refusal<InputError>([] { open_tensor_file(locked_file()); },
                                   "step-000000.h5: another program has it open for writing");
  error_of_locks = 0;
}

}  // namespace
}  // namespace hesscope::io
