// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/io/input_file.h>

namespace hesscope::io {
namespace {

std::string system_text(int error) { return std::generic_category().message(error); }

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

InputFile::InputFile(std::filesystem::path path) : path_(std::move(path)) {
  // O_NONBLOCK: opening a FIFO must fail below, not wait for a writer.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    throw InputError(fmt::format("{}: cannot be opened: {}", path_.string(), system_text(errno)));
  }

  struct stat status {};

  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    throw InputError(
        fmt::format("{}: {}; a checkpoint or data file is expected",
                    path_.string(),
                    S_ISDIR(status.st_mode) ? "is a directory" : "is not a regular file"));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset) {
    throw InputError(
        fmt::format("{}: truncated: {} bytes expected at byte {}, but the file has {} bytes",
                    path_.string(),
                    out.size(),
                    offset,
                    size_));
  }
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = ::pread(
        descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      throw InputError(fmt::format("{}: reading byte {} failed: {}",
                                   path_.string(),
                                   offset + done,
                                   count < 0 ? system_text(errno) : "the file became shorter"));
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

std::unique_ptr<ByteStream> stream_of(std::shared_ptr<const InputFile> file) {
  return std::make_unique<FileStream>(std::move(file));
}

}  // namespace hesscope::io
