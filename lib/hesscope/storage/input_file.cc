// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/storage/input_file.h>

namespace hesscope::io {
namespace {

std::string system_text(int error) { return std::generic_category().message(error); }

bool is_before(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

bool is_same(const timespec& a, const timespec& b) { return !is_before(a, b) && !is_before(b, a); }

/// Whether the next change of a file could get the same time stamp as the last one, and so not be
/// noticed: the clock for time stamps is coarse.
bool may_change_unnoticed(const timespec& changed) {
  timespec now{};
  return ::clock_gettime(CLOCK_REALTIME_COARSE, &now) == 0 && !is_before(changed, now);
}

/// Avoids the descriptors of the standard streams, which a forked process replaces.
/// @param more_flags  O_NOFOLLOW or none.
/// @return            less than 0 if it cannot be opened: the error, negated.
int opened(const std::filesystem::path& path, int more_flags = 0) {
  // O_NONBLOCK: opening a FIFO must fail later, not wait for a writer.
  const int descriptor =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | more_flags);
  if (descriptor < 0) return -errno;
  if (descriptor > STDERR_FILENO) return descriptor;
  int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (moved < 0) moved = -errno;
  ::close(descriptor);
  return moved;
}

class FileStream final : public ByteStream {
 public:
  explicit FileStream(std::shared_ptr<const InputFile> file)
      : file_(std::move(file)), where_(file_->path().string()) {}

  const std::string& where() const override { return where_; }

  std::uint64_t remaining() const override { return file_->size() - position_; }

  void read(std::span<std::byte> out) override {
    file_->read_at(position_, out);
    position_ += out.size();
  }

  void finish() override {
    if (remaining() != 0) {
      throw InputError(fmt::format(
          "{}: {} bytes follow the end of the data at byte {}", where_, remaining(), position_));
    }
  }

 private:
  std::shared_ptr<const InputFile> file_;
  std::string where_;
  std::uint64_t position_ = 0;
};

}  // namespace

InputFile::InputFile(std::filesystem::path path, int descriptor, std::stop_token stop)
    : path_(std::move(path)), descriptor_(descriptor), stop_(std::move(stop)) {}

InputFile::InputFile(const std::filesystem::path& path,
                     std::string_view expected,
                     std::stop_token stop)
    : InputFile(path, opened(path), std::move(stop)) {
  examine(expected);
}

std::shared_ptr<const InputFile> InputFile::beside(const InputFile& file,
                                                   const std::string& name,
                                                   std::string_view expected) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
      !is_printable_utf8(name)) {
    throw InputError(fmt::format(
        "{}: '{}' is not the name of a file next to it", file.path().string(), escaped(name)));
  }
  const std::filesystem::path path = file.path().parent_path() / name;
  // Since the name contains no slash, only its last step could lead out of the folder.
  const int descriptor = opened(path, O_NOFOLLOW);
  if (descriptor == -ELOOP) {
    throw InputError(fmt::format("{}: is a symbolic link; {} that {} names must lie beside it",
                                 path.string(),
                                 expected,
                                 file.path().filename().string()));
  }
  const std::shared_ptr<InputFile> found(new InputFile(path, descriptor, file.stop()));
  found->examine(expected);

  struct stat status {};

  if (::fstat(found->descriptor(), &status) != 0 || status.st_nlink != 1) {
    throw InputError(fmt::format("{}: has {} names (hard links); {} that {} names must have one",
                                 path.string(),
                                 status.st_nlink,
                                 expected,
                                 file.path().filename().string()));
  }
  return found;
}

void InputFile::examine(std::string_view expected) {
  struct stat status {};

  if (path_.empty()) {
    throw InputError(fmt::format("the name of a file is empty; {} is expected", expected));
  }
  int error = 0;
  if (!descriptor_.is_open()) {
    error = -descriptor_.number();
  } else if (::fstat(descriptor_.number(), &status) != 0) {
    error = errno;
  }
  if (error != 0) {
    const std::string message = fmt::format(
        "{}: cannot be opened: {}; {} is expected", path_.string(), system_text(error), expected);
    if (error == ENOENT) throw MissingFileError(message);
    throw UnreadableFileError(message);
  }
  if (!S_ISREG(status.st_mode)) {
    throw InputError(
        fmt::format("{}: {}; {} is expected",
                    path_.string(),
                    S_ISDIR(status.st_mode) ? "is a directory" : "is not a regular file",
                    expected));
  }
  constexpr off_t kHeldBytes = 1 << 20;
  constexpr int kMostWaits = 20;  // regardless of the clock of a file server
  constexpr timespec kMillisecond{0, 1'000'000};
  bool is_fresh = may_change_unnoticed(status.st_ctim);
  for (int i = 0; i < kMostWaits && is_fresh && status.st_size > kHeldBytes; ++i) {
    ::nanosleep(&kMillisecond, nullptr);
    ::fstat(descriptor_.number(), &status);
    is_fresh = may_change_unnoticed(status.st_ctim);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  written_ = status.st_mtim;
  changed_ = status.st_ctim;
  if (is_fresh && status.st_size <= kHeldBytes) content_ = text_at(0, kHeldBytes);
}

void InputFile::require_unchanged() const {
  struct stat status {};

  const bool is_unchanged = ::fstat(descriptor_.number(), &status) == 0 &&
                            static_cast<std::uint64_t>(status.st_size) == size_ &&
                            is_same(status.st_mtim, written_) && is_same(status.st_ctim, changed_);
  if (is_unchanged) return;
  throw InputError(fmt::format(
      "{}: it changed since it was opened, so that what was read of it may be of two files; run "
      "again once nothing writes to it",
      path_.string()));
}

void InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (stop_.stop_requested()) throw Interrupted();
  if (offset > size_ || out.size() > size_ - offset) {
    throw InputError(
        fmt::format("{}: truncated: {} bytes expected at byte {}, but the file has {} bytes",
                    path_.string(),
                    out.size(),
                    offset,
                    size_));
  }
  if (out.empty()) return;  // memcpy needs valid pointers, even for nothing
  if (content_) {
    std::memcpy(out.data(), content_->data() + offset, out.size());
  } else {
    read_from_file(offset, out);
  }
}

void InputFile::read_from_file(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = ::pread(descriptor_.number(),
                                  out.data() + done,
                                  out.size() - done,
                                  static_cast<off_t>(offset + done));
    const int error = errno;
    if (count < 0 && error == EINTR) continue;
    if (count < 0) {
      throw UnreadableFileError(fmt::format(
          "{}: reading byte {} failed: {}", path_.string(), offset + done, system_text(error)));
    }
    if (count == 0) {
      throw InputError(fmt::format(
          "{}: reading byte {} failed: the file became shorter", path_.string(), offset + done));
    }
    done += static_cast<std::size_t>(count);
  }
}

std::string InputFile::text_at(std::uint64_t offset, std::size_t max_bytes) const {
  if (offset >= size_) return {};
  std::string text(std::min<std::uint64_t>(max_bytes, size_ - offset), '\0');
  read_at(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

std::string whole_text(const InputFile& file, std::uint64_t max_bytes) {
  if (file.size() > max_bytes) {
    throw InputError(fmt::format(
        "{}: has {} bytes; at most {} are read", file.path().string(), file.size(), max_bytes));
  }
  std::string text = file.text_at(0, static_cast<std::size_t>(file.size()));
  file.require_unchanged();
  return text;
}

std::unique_ptr<ByteStream> stream_of(std::shared_ptr<const InputFile> file) {
  return std::make_unique<FileStream>(std::move(file));
}

}  // namespace hesscope::io
