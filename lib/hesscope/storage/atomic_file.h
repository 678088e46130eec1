// SPDX-License-Identifier: BSD-3-Clause
//
// A file that appears complete or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <hesscope/storage/overwrite.h>

namespace hesscope::io {

/// Owner of a temporary file next to its destination: `.NAME.tmp-PID`, created empty and
/// exclusively. The caller fills and closes temporary(), then calls publish(). Otherwise the
/// destructor removes it; what a killed process leaves behind is recognised by its name.
class AtomicFile {
 public:
  /// @throws OutputError if the folder does not exist or cannot be written to, or if `destination`
  ///         is not a regular file, or is one that may not be replaced. A symbolic link counts as
  ///         its target, a dangling one as a regular file. Publishing replaces the link itself and
  ///         leaves its target unchanged.
  AtomicFile(std::filesystem::path destination, Existing existing);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::filesystem::path& destination() const { return destination_; }

  const std::filesystem::path& temporary() const { return temporary_; }

  /// Syncs the temporary file, renames it to the destination and syncs the folder: from then on the
  /// file survives a power cut. With Existing::kRefuse, a destination that has appeared in the
  /// meantime is left unchanged.
  /// @throws OutputError, and removes the temporary file, if any step fails. The destination is
  ///         then in place only if it was the sync of the folder that failed.
  void publish();

  /// Removes the temporary file. Does nothing after publish().
  void discard() noexcept;

 private:
  void refuse_unreplaceable() const;
  void rename_into_place();

  std::filesystem::path destination_;
  std::filesystem::path temporary_;  // empty once renamed or removed
  Existing existing_ = Existing::kRefuse;
};

/// @throws OutputError if the folder in which the output is to be written does not exist.
void require_folder_of(const std::filesystem::path& output);

/// Writes a file with these bytes, completely or not at all. @throws OutputError as AtomicFile, and
/// if the bytes cannot be written.
void write_whole(const std::filesystem::path& destination,
                 std::string_view bytes,
                 Existing existing);

struct WholeFile {
  std::filesystem::path destination;
  std::string bytes;
};

/// The same for files that belong together: none of them is put in place before the bytes of all
/// have been written.
void write_whole(std::span<const WholeFile> files, Existing existing);

}  // namespace hesscope::io
