// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/internal/zip_stream.h>

namespace hesscope::io {
namespace {

/// Shared by stored and deflated members: position, checksum, and the conditions for refusing a
/// read.
class EntryStream : public ByteStream {
 public:
  EntryStream(std::shared_ptr<const InputFile> file, const ZipEntry& entry)
      : file_(std::move(file)),
        where_(file_->path().string() + ": member '" + entry.name + "'"),
        declared_crc_(entry.crc32),
        remaining_(entry.decoded_bytes),
        stored_offset_(entry.data_offset),
        stored_left_(entry.stored_bytes) {}

  const std::string& where() const final { return where_; }

  std::uint64_t remaining() const final { return remaining_; }

  void read(std::span<std::byte> out) final {
    if (out.size() > remaining_) {
      refuse("is truncated: {} bytes are missing", out.size() - remaining_);
    }
    decode(out);
    crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(out.data()), out.size());
    remaining_ -= out.size();
  }

  void finish() final {
    if (remaining_ != 0) refuse("has {} bytes beyond the end of its data", remaining_);
    expect_end();
    if (crc_ != declared_crc_) {
      refuse("is damaged: its CRC-32 is {:08x}, {:08x} was expected", crc_, declared_crc_);
    }
  }

 protected:
  virtual void decode(std::span<std::byte> out) = 0;
  virtual void expect_end() = 0;

  /// Reads stored bytes from the file; out.size() <= stored_left().
  void take_stored(std::span<std::byte> out) {
    file_->read_at(stored_offset_, out);
    stored_offset_ += out.size();
    stored_left_ -= out.size();
  }

  std::uint64_t stored_left() const { return stored_left_; }

  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw InputError(fmt::format("{} {} (near byte {} of the file)",
                                 where_,
                                 fmt::format(format, std::forward<Args>(args)...),
                                 stored_offset_));
  }

 private:
  std::shared_ptr<const InputFile> file_;
  std::string where_;
  std::uint32_t declared_crc_;
  uLong crc_ = 0;
  std::uint64_t remaining_;
  std::uint64_t stored_offset_;
  std::uint64_t stored_left_;
};

class StoredStream final : public EntryStream {
 public:
  using EntryStream::EntryStream;

 private:
  // The directory reader has checked that as many bytes are stored as declared.
  void decode(std::span<std::byte> out) override { take_stored(out); }

  void expect_end() override {}
};

class DeflateStream final : public EntryStream {
 public:
  DeflateStream(std::shared_ptr<const InputFile> file, const ZipEntry& entry)
      : EntryStream(std::move(file), entry) {
    constexpr int kRawDeflate = -MAX_WBITS;  // no zlib or gzip header
    if (inflateInit2(&state_, kRawDeflate) != Z_OK) {
      throw InputError(where() + ": not enough memory to inflate it");
    }
  }

  ~DeflateStream() override { inflateEnd(&state_); }

  DeflateStream(const DeflateStream&) = delete;
  DeflateStream& operator=(const DeflateStream&) = delete;

 private:
  void decode(std::span<std::byte> out) override {
    while (!out.empty()) {
      const std::size_t count = inflate_some(out);
      if (count == 0) refuse("is damaged: its data ends {} bytes early", out.size());
      out = out.subspan(count);
    }
  }

  void expect_end() override {
    std::array<std::byte, 1> beyond;
    if (inflate_some(beyond) != 0) refuse("is damaged: it inflates to more than it declares");
    if (stored_left() != 0 || state_.avail_in != 0) {
      refuse("is damaged: {} bytes follow its compressed data", stored_left() + state_.avail_in);
    }
  }

  /// Inflates at least one byte into `out`, or none when the compressed data has ended.
  std::size_t inflate_some(std::span<std::byte> out) {
    constexpr std::size_t kMaxStep = std::size_t{1} << 30;  // zlib counts in 32 bits
    const std::size_t room = std::min(out.size(), kMaxStep);
    state_.next_out = reinterpret_cast<Bytef*>(out.data());
    state_.avail_out = static_cast<uInt>(room);
    while (!has_ended_ && state_.avail_out == room) {
      if (state_.avail_in == 0 && stored_left() != 0) {
        const std::span<std::byte> input =
            std::span(input_).first(std::min<std::uint64_t>(input_.size(), stored_left()));
        take_stored(input);
        state_.next_in = reinterpret_cast<Bytef*>(input.data());
        state_.avail_in = static_cast<uInt>(input.size());
      }
      // Also called if no input is left: zlib may hold output for which there was no room.
      const int code = inflate(&state_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        has_ended_ = true;
      } else if (code == Z_BUF_ERROR && state_.avail_in == 0) {
        if (stored_left() == 0) refuse("is damaged: its compressed data is cut short");
      } else if (code != Z_OK) {
        refuse("is damaged: {}", state_.msg != nullptr ? state_.msg : zError(code));
      }
    }
    return room - state_.avail_out;
  }

  z_stream state_{};
  std::array<std::byte, std::size_t{16} * 1024> input_;
  bool has_ended_ = false;
};

}  // namespace

std::unique_ptr<ByteStream> open_zip_entry(std::shared_ptr<const InputFile> file,
                                           const ZipEntry& entry) {
  if (entry.is_deflated) return std::make_unique<DeflateStream>(std::move(file), entry);
  return std::make_unique<StoredStream>(std::move(file), entry);
}

}  // namespace hesscope::io
