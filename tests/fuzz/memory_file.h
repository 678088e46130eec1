// SPDX-License-Identifier: BSD-3-Clause
//
// A file that lies in memory: the readers take paths, and no disk is fast enough.
#pragma once

#include <filesystem>

#include "fuzz/targets.h"

namespace hesscope::fuzz {

class MemoryFile {
 public:
  /// @param descriptor  the number that the file gets, which is its name; -1 = any.
  /// @throws std::system_error
  explicit MemoryFile(int descriptor = -1);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// "/proc/self/fd/7"
  const std::filesystem::path& path() const { return path_; }

  /// Replaces the content. @throws std::system_error
  void assign(Input content);

 private:
  int descriptor_ = -1;
  std::filesystem::path path_;
};

}  // namespace hesscope::fuzz
