// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include <hesscope/storage/descriptor.h>

namespace hesscope::io {

/// Prevents two runs from using the same output: holds `OUTPUT.lock` for its lifetime. The system
/// releases the lock of a killed process; the file that remains does no harm.
class FileLock {
 public:
  /// @throws LockedError if another process holds the lock; OutputError if the folder does not
  /// exist or the file cannot be created.
  explicit FileLock(const std::filesystem::path& output);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
};

}  // namespace hesscope::io
