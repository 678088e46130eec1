// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/internal/zip.h>
#include <hesscope/tensors/internal/numpy/npy.h>
#include <hesscope/tensors/internal/numpy/npz_reader.h>

namespace hesscope::io {
namespace {

constexpr std::string_view kSuffix = ".npy";

/// Reads to the end, so that the checksum confirms that the data read are those written.
void pass_over(ByteStream& stream) {
  constexpr std::uint64_t kBlock = 65536;
  std::vector<std::byte> block(std::min(kBlock, stream.remaining()));
  while (stream.remaining() > 0) {
    stream.read(std::span(block).first(std::min(kBlock, stream.remaining())));
  }
  stream.finish();
}

UnreadableTensor named(std::string name, UnreadableTensor tensor) {
  tensor.name = std::move(name);
  return tensor;
}

class NpzSource final : public TensorSource {
 public:
  NpzSource(std::shared_ptr<const InputFile> file, const ReadLimits& limits)
      : file_(std::move(file)), archive_(file_, limits) {
    for (std::size_t i = 0; i < archive_.entries().size(); ++i) {
      const ZipEntry& entry = archive_.entries()[i];
      if (entry.is_folder() && entry.decoded_bytes == 0) continue;
      if (!entry.name.ends_with(kSuffix) || entry.name.size() == kSuffix.size()) {
        throw InputError(fmt::format(
            "{}: member '{}' is not a NumPy array (NAME.npy); a .npz file holds nothing "
            "else (header at byte {})",
            file_->path().string(),
            entry.name,
            entry.header_offset));
      }
      const auto stream = archive_.open(i);
      NpyHeader header = read_npy_header(*stream, limits);
      std::string name = entry.name.substr(0, entry.name.size() - kSuffix.size());
      if (header.unreadable) {
        pass_over(*stream);  // a damaged header may have changed its type
        unreadable_.push_back(named(std::move(name), *header.unreadable));
        continue;
      }
      tensors_.push_back({.name = std::move(name), .shape = header.shape, .type = header.type});
      members_.push_back({i, std::move(header)});
    }
  }

  std::span<const TensorInfo> tensors() const override { return tensors_; }

  std::span<const UnreadableTensor> unreadable() const override { return unreadable_; }

  std::vector<double> read(std::size_t index) const override {
    const Member& member = members_.at(index);
    return read_npy(*archive_.open(member.entry), member.header);
  }

  std::span<const std::shared_ptr<const InputFile>> files() const override { return {&file_, 1}; }

 private:
  struct Member {
    std::size_t entry = 0;
    NpyHeader header;
  };

  std::shared_ptr<const InputFile> file_;
  ZipArchive archive_;
  std::vector<TensorInfo> tensors_;
  std::vector<Member> members_;  ///< one per tensor
  std::vector<UnreadableTensor> unreadable_;
};

class NpySource final : public TensorSource {
 public:
  NpySource(std::shared_ptr<const InputFile> file, const ReadLimits& limits)
      : file_(std::move(file)), header_(read_npy_header(*stream_of(file_), limits)) {
    std::string name = file_->path().stem().string();
    if (header_.unreadable) {
      unreadable_.push_back(named(std::move(name), *header_.unreadable));
    } else {
      tensors_.push_back({.name = std::move(name), .shape = header_.shape, .type = header_.type});
    }
  }

  std::span<const TensorInfo> tensors() const override { return tensors_; }

  std::span<const UnreadableTensor> unreadable() const override { return unreadable_; }

  std::vector<double> read(std::size_t index) const override {
    if (index != 0) throw PreconditionError("NpySource: a .npy file holds one tensor");
    return read_npy(*stream_of(file_), header_);
  }

  std::span<const std::shared_ptr<const InputFile>> files() const override { return {&file_, 1}; }

 private:
  std::shared_ptr<const InputFile> file_;
  NpyHeader header_;
  std::vector<TensorInfo> tensors_;  ///< the tensor, or none
  std::vector<UnreadableTensor> unreadable_;
};

}  // namespace

bool recognises_npz(const InputFile& file) {
  if (!looks_like_zip(file)) return false;
  const std::string member = first_zip_member(file);
  return member.empty() || member.ends_with(kSuffix);
}

std::unique_ptr<TensorSource> open_npz(std::shared_ptr<const InputFile> file,
                                       const ReadLimits& limits) {
  return std::make_unique<NpzSource>(std::move(file), limits);
}

bool recognises_npy(const InputFile& file) { return file.text_at(0, 6) == "\x93NUMPY"; }

std::unique_ptr<TensorSource> open_npy(std::shared_ptr<const InputFile> file,
                                       const ReadLimits& limits) {
  return std::make_unique<NpySource>(std::move(file), limits);
}

}  // namespace hesscope::io
