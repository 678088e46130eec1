// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/tensors/internal/elements.h>
#include <hesscope/tensors/internal/torch/torch_storage.h>

namespace hesscope::io {

/// Bytes of a member in order, starting at one of its bytes.
class MemberBytes {
 public:
  virtual ~MemberBytes() = default;

  virtual void read(std::span<std::byte> out) = 0;

  /// The data are valid only if this returns.
  virtual void finish() {}
};

namespace {

constexpr std::size_t kBlockElements = 16384;

void skip(ByteStream& stream, std::uint64_t count) {
  std::vector<std::byte> scratch(std::min<std::uint64_t>(count, std::size_t{64} * 1024));
  while (count > 0) {
    const auto part = std::span(scratch).first(std::min<std::uint64_t>(count, scratch.size()));
    stream.read(part);
    count -= part.size();
  }
}

/// For a member never read before: reads all of it, to verify its checksum.
class CheckedBytes final : public MemberBytes {
 public:
  CheckedBytes(std::unique_ptr<ByteStream> stream, std::uint64_t begin)
      : stream_(std::move(stream)) {
    skip(*stream_, begin);
  }

  void read(std::span<std::byte> out) override { stream_->read(out); }

  void finish() override {
    skip(*stream_, stream_->remaining());
    stream_->finish();
  }

 private:
  std::unique_ptr<ByteStream> stream_;
};

/// For a deflated member with a verified checksum: starts where the last tensor left its stream.
class FollowingBytes final : public MemberBytes {
 public:
  FollowingBytes(ByteStream& stream, std::uint64_t count) : stream_(stream) {
    skip(stream_, count);
  }

  void read(std::span<std::byte> out) override { stream_.read(out); }

 private:
  ByteStream& stream_;
};

/// For a stored member with a verified checksum.
class StoredBytes final : public MemberBytes {
 public:
  StoredBytes(const InputFile& file, std::uint64_t offset) : file_(file), offset_(offset) {}

  void read(std::span<std::byte> out) override {
    file_.read_at(offset_, out);
    offset_ += out.size();
  }

 private:
  const InputFile& file_;
  std::uint64_t offset_;
};

struct Axis {
  std::uint64_t extent;
  std::uint64_t stride;  ///< in the storage
  std::uint64_t step;    ///< in the result, row-major
};

/// Axes that have more than one element, outermost first.
std::vector<Axis> axes_of(const StridedLayout& layout) {
  std::vector<Axis> axes;
  std::uint64_t step = 1;
  for (std::size_t k = layout.shape.size(); k-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(layout.shape[k]);
    if (extent > 1) axes.push_back({extent, static_cast<std::uint64_t>(layout.strides[k]), step});
    step *= extent;
  }
  std::ranges::reverse(axes);
  return axes;
}

bool is_contiguous(std::span<const Axis> axes) {
  return std::ranges::all_of(axes, [](const Axis& axis) { return axis.stride == axis.step; });
}

/// Number of elements from the first to the last that the axes reach.
std::uint64_t reach(std::span<const Axis> axes) {
  std::uint64_t last = 0;
  for (const Axis& axis : axes) last += (axis.extent - 1) * axis.stride;
  return last + 1;
}

/// How the elements of a tensor are decoded.
struct Decoder {
  const std::string& where;
  ElementType type;
  ByteOrder order;

  std::size_t size() const { return size_of(type); }

  /// Whether elements are stored in this processor's format of doubles.
  bool is_identity() const {
    constexpr bool kIsLittle = std::endian::native == std::endian::little;
    return type == ElementType::kFloat64 && (order == ByteOrder::kLittle) == kIsLittle;
  }

  void decode(std::span<const std::byte> in, std::span<double> out, std::uint64_t first) const {
    decode_elements(where, type, order, in, out, static_cast<std::size_t>(first));
  }
};

std::vector<double> read_run(MemberBytes& bytes, const Decoder& decoder, std::size_t count) {
  std::vector<double> out;
  try {
    out.reserve(count);
  } catch (const std::bad_alloc&) {
    throw InputError(
        fmt::format("{}: not enough memory for {} elements as float64", decoder.where, count));
  }
  const std::size_t block = std::min(count, kBlockElements);
  const bool is_identity = decoder.is_identity();
  std::vector<std::byte> stored(is_identity ? 0 : block * decoder.size());
  std::vector<double> values(block);
  while (out.size() < count) {
    const auto now = std::span(values).first(std::min(block, count - out.size()));
    if (is_identity) {
      bytes.read(std::as_writable_bytes(now));
    } else {
      const auto in = std::span(stored).first(now.size() * decoder.size());
      bytes.read(in);
      decoder.decode(in, now, out.size());
    }
    out.insert(out.end(), now.begin(), now.end());
  }
  return out;
}

/// A part of the storage that moves towards its end.
class Window {
 public:
  Window(MemberBytes& bytes, const Decoder& decoder, std::uint64_t reach, std::uint64_t size)
      : bytes_(bytes), decoder_(decoder), reach_(reach), size_(std::min(size, reach)) {}

  /// Up to out.size() consecutive elements, as far as the window has them. @return their number.
  std::size_t take(std::uint64_t first, std::span<double> out) {
    while (first >= end_) advance();
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), end_ - first));
    const auto at = static_cast<std::size_t>(first - begin_) * decoder_.size();
    decoder_.decode(
        std::span(stored_).subspan(at, count * decoder_.size()), out.first(count), first);
    return count;
  }

 private:
  void advance() {
    begin_ = end_;
    end_ = std::min(reach_, begin_ + size_);
    try {
      stored_.resize(static_cast<std::size_t>(end_ - begin_) * decoder_.size());
    } catch (const std::bad_alloc&) {
      throw InputError(fmt::format(
          "{}: not enough memory for {} of its elements at once", decoder_.where, end_ - begin_));
    }
    bytes_.read(stored_);
  }

  MemberBytes& bytes_;
  const Decoder& decoder_;
  std::uint64_t reach_;
  std::uint64_t size_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::vector<std::byte> stored_;
};

/// Traverses the storage once, in the order of addresses, and puts each element into its place in
/// the result. With axes in descending order of strides, addresses ascend, unless the inner axes
/// reach beyond the stride of an outer one; the window then covers everything.
std::vector<double> gather(MemberBytes& bytes,
                           const Decoder& decoder,
                           std::vector<Axis> axes,
                           std::size_t count) {
  std::ranges::stable_sort(axes, std::ranges::greater(), &Axis::stride);
  bool is_ascending = true;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    is_ascending = is_ascending && reach(std::span(axes).subspan(k + 1)) - 1 <= axes[k].stride;
  }
  const std::uint64_t all = reach(axes);
  Window window(bytes, decoder, all, is_ascending ? kBlockElements : all);

  // Neighbours in the storage are decoded together.
  Axis run = {1, 1, 0};
  if (axes.back().stride == 1) {
    run = axes.back();
    axes.pop_back();
  }
  std::vector<double> out = allocate_elements(decoder.where, count);
  std::vector<double> values(std::min<std::size_t>(run.extent, kBlockElements));
  std::vector<std::uint64_t> index(axes.size());
  std::uint64_t address = 0;
  std::uint64_t target = 0;
  for (std::size_t done = 0; done < count; done += run.extent) {
    for (std::uint64_t i = 0; i < run.extent;) {
      const auto wanted = std::min<std::uint64_t>(values.size(), run.extent - i);
      const std::size_t got = window.take(address + i, std::span(values).first(wanted));
      for (std::size_t k = 0; k < got; ++k) out[target + (i + k) * run.step] = values[k];
      i += got;
    }
    for (std::size_t k = axes.size(); k-- > 0;) {
      address += axes[k].stride;
      target += axes[k].step;
      if (++index[k] < axes[k].extent) break;
      address -= axes[k].stride * axes[k].extent;
      target -= axes[k].step * axes[k].extent;
      index[k] = 0;
    }
  }
  return out;
}

}  // namespace

TorchStorages::TorchStorages(std::shared_ptr<const InputFile> file,
                             const ZipArchive& archive,
                             ByteOrder order)
    : file_(std::move(file)),
      archive_(archive),
      byte_order_(order),
      is_verified_(archive.entries().size()),
      following_member_(archive.entries().size()) {}

std::unique_ptr<MemberBytes> TorchStorages::open(std::size_t member, std::uint64_t begin) const {
  const ZipEntry& entry = archive_.entries()[member];
  if (!is_verified_[member]) {
    return std::make_unique<CheckedBytes>(archive_.open(member), begin);
  }
  if (!entry.is_deflated) return std::make_unique<StoredBytes>(*file_, entry.data_offset + begin);
  const bool is_ahead =
      following_member_ == member && entry.decoded_bytes - following_->remaining() <= begin;
  if (!is_ahead) following_ = archive_.open(member);
  following_member_ = archive_.entries().size();  // until the tensor is read
  return std::make_unique<FollowingBytes>(*following_,
                                          begin - (entry.decoded_bytes - following_->remaining()));
}

std::vector<double> TorchStorages::read(const std::string& where,
                                        std::size_t member,
                                        ElementType type,
                                        const StridedLayout& layout) const {
  std::size_t count = 1;
  for (const std::int64_t extent : layout.shape) count *= static_cast<std::size_t>(extent);
  if (count == 0) return {};
  const Decoder decoder = {where, type, byte_order_};
  const std::unique_ptr<MemberBytes> bytes = open(member, layout.offset * decoder.size());
  const std::vector<Axis> axes = axes_of(layout);
  std::vector<double> values =
      is_contiguous(axes) ? read_run(*bytes, decoder, count) : gather(*bytes, decoder, axes, count);
  bytes->finish();
  if (is_verified_[member] && archive_.entries()[member].is_deflated) following_member_ = member;
  is_verified_[member] = true;
  return values;
}

}  // namespace hesscope::io
