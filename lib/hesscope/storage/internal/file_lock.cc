// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/storage/internal/file_lock.h>

namespace hesscope::io {
namespace {

// The holder removes the file before releasing it: a lock on a removed file is void.
bool is_still_at(const std::filesystem::path& path, int descriptor) {
  struct stat held {};

  struct stat there {};

  return ::fstat(descriptor, &held) == 0 && ::stat(path.c_str(), &there) == 0 &&
         held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

// Nothing is ever written to a lock file: one with content belongs to somebody else.
bool may_be_ours(int descriptor) {
  struct stat status {};

  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& output) : path_(output) {
  require_folder_of(output);
  path_ += ".lock";
  while (true) {
    descriptor_ = Descriptor(
        ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666));
    const int opening_error = errno;
    if (!descriptor_.is_open()) {
      throw OutputError(fmt::format("{}: cannot be written: {} for its lock file {}",
                                    output.string(),
                                    std::generic_category().message(opening_error),
                                    path_.string()));
    }
    if (!may_be_ours(descriptor_.number())) {  // must not even be removed
      throw OutputError(fmt::format(
          "{}: stands where the lock file of {} would and is none, as it is not an empty "
          "regular file; move it, or choose another output",
          path_.string(),
          output.string()));
    }
    const int error = ::flock(descriptor_.number(), LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
    if (error == EWOULDBLOCK) {
      throw LockedError(
          fmt::format("{}: another run is writing this output; wait for it or choose another",
                      output.string()));
    }
    // A file system without locks (some network ones) cannot separate runs; the output is still
    // written atomically.
    if (error != 0 || is_still_at(path_, descriptor_.number())) return;
    descriptor_ = {};
  }
}

FileLock::~FileLock() { ::unlink(path_.c_str()); }

}  // namespace hesscope::io
