// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <cstdio>
#include <list>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/atomic_file.h>

namespace hesscope::io {
namespace {

[[noreturn]] void fail(const std::string& action, int error) {
  throw OutputError(
      fmt::format("{}: {}", action, std::error_code(error, std::generic_category()).message()));
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// Some file systems cannot sync a folder and return EINVAL; nothing more can be done for their
/// files. @returns 0 or errno.
int sync(const std::filesystem::path& path, int flags, bool invalid_is_fine) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) return errno;
  int error = ::fsync(descriptor) == 0 ? 0 : errno;
  if (invalid_is_fine && error == EINVAL) error = 0;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  return error;
}

/// Atomically refuses an existing `to`, if the system can. @returns 0 or errno.
int rename_unless_exists(const std::filesystem::path& from, const std::filesystem::path& to) {
#ifdef RENAME_NOREPLACE
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
#endif
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(to, ignored))) return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

void fill(const AtomicFile& file, std::string_view bytes) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(
      std::fopen(file.temporary().c_str(), "wb"), &std::fclose);
  const bool ok = stream != nullptr &&
                  std::fwrite(bytes.data(), 1, bytes.size(), stream.get()) == bytes.size() &&
                  std::fflush(stream.get()) == 0;
  const int error = errno;  // before anything else changes it
  if (!ok) fail(fmt::format("{}: cannot write", file.destination().string()), error);
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path destination, Existing existing)
    : destination_(std::move(destination)), existing_(existing) {
  if (!destination_.has_filename()) {
    throw OutputError(fmt::format("'{}' does not name an output file", destination_.string()));
  }
  require_folder_of(destination_);
  refuse_unreplaceable();

  const std::filesystem::path folder = folder_of(destination_);
  const std::string stem =
      fmt::format(".{}.tmp-{}", destination_.filename().string(), static_cast<long>(::getpid()));
  // The first name may be taken by a second writer in this process, or by a remnant of a killed
  // process with the same number.
  constexpr int kMaxAttempts = 1000;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    std::filesystem::path candidate =
        folder / (attempt == 0 ? stem : fmt::format("{}-{}", stem, attempt));
    const int descriptor = ::open(candidate.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      temporary_ = std::move(candidate);
      ::close(descriptor);
      return;
    }
    const int error = errno;
    if (error != EEXIST) {
      fail(fmt::format("{}: cannot create a file in '{}'", destination_.string(), folder.string()),
           error);
    }
  }
  throw OutputError(fmt::format("{}: {} temporary files '{}*' are in the way; remove them",
                                destination_.string(),
                                kMaxAttempts,
                                (folder / stem).string()));
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() noexcept {
  if (temporary_.empty()) return;
  ::unlink(temporary_.c_str());
  temporary_.clear();
}

void AtomicFile::refuse_unreplaceable() const {
  std::error_code error;
  // A dangling link is in the way, too.
  if (!std::filesystem::exists(std::filesystem::symlink_status(destination_, error))) return;
  const std::filesystem::file_status status = std::filesystem::status(destination_, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw OutputError(fmt::format("{}: exists and is not a regular file", destination_.string()));
  }
  if (existing_ == Existing::kRefuse) {
    throw OutputError(
        fmt::format("{}: exists already; choose another output, or replace it by "
                    "`Existing::kReplace`",
                    destination_.string()));
  }
}

void AtomicFile::rename_into_place() {
  refuse_unreplaceable();
  const int error = existing_ == Existing::kReplace
                        ? (::rename(temporary_.c_str(), destination_.c_str()) == 0 ? 0 : errno)
                        : rename_unless_exists(temporary_, destination_);
  if (error != 0) {
    fail(fmt::format("{}: cannot rename '{}' to it", destination_.string(), temporary_.string()),
         error);
  }
  temporary_.clear();
}

void AtomicFile::publish() {
  try {
    if (const int error = sync(temporary_, O_RDONLY, false); error != 0) {
      fail(fmt::format("{}: cannot be synced to disk; nothing was written", destination_.string()),
           error);
    }
    rename_into_place();
  } catch (...) {
    discard();
    throw;
  }
  const int error = sync(folder_of(destination_), O_RDONLY | O_DIRECTORY, true);
  if (error == 0) return;
  fail(fmt::format("{}: is written, but its folder cannot be synced to disk, so that a power "
                   "failure may lose it",
                   destination_.string()),
       error);
}

void require_folder_of(const std::filesystem::path& output) {
  const std::filesystem::path folder = folder_of(output);
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return;
  throw OutputError(
      fmt::format("{}: the folder '{}' does not exist", output.string(), folder.string()));
}

void write_whole(const std::filesystem::path& destination,
                 std::string_view bytes,
                 Existing existing) {
  AtomicFile file(destination, existing);
  fill(file, bytes);
  file.publish();
}

void write_whole(std::span<const WholeFile> files, Existing existing) {
  std::list<AtomicFile> all;
  for (const WholeFile& file : files)
    fill(all.emplace_back(file.destination, existing), file.bytes);
  for (AtomicFile& file : all) file.publish();
}

}  // namespace hesscope::io
