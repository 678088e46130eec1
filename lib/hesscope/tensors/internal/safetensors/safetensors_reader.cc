// SPDX-License-Identifier: BSD-3-Clause
//
// A safetensors file consists of the number N of the header's bytes (64 bits, little-endian), N
// bytes of JSON, and the tensors' bytes one after the other: row-major, little-endian, without
// gaps, to the end of the file. Only data that the header accounts for completely are accepted, so
// that different readers cannot see different contents in a file.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/internal/elements.h>
#include <hesscope/tensors/internal/safetensors/safetensors_header.h>
#include <hesscope/tensors/internal/safetensors/safetensors_reader.h>
#include <hesscope/tensors/internal/safetensors/safetensors_types.h>

namespace hesscope::io {
namespace {

constexpr std::uint64_t kLengthBytes = 8;

std::uint64_t load_length(std::string_view bytes) {
  return load<ByteOrder::kLittle, std::uint64_t>(std::as_bytes(std::span(bytes)).data());
}

class SafetensorsSource final : public TensorSource {
 public:
  SafetensorsSource(std::shared_ptr<const InputFile> file, const ReadLimits& limits)
      : file_(std::move(file)) {
    const std::string where = file_->path().string();
    const std::string header = read_header(where, limits);
    const std::uint64_t data = kLengthBytes + header.size();
    const std::vector<SafetensorsEntry> entries =
        parse_safetensors_header(header, where, kLengthBytes, limits);
    for (const SafetensorsEntry& entry : entries) add(entry, data, limits);
    check_coverage(entries, data);
  }

  std::span<const TensorInfo> tensors() const override { return tensors_; }

  std::span<const UnreadableTensor> unreadable() const override { return unreadable_; }

  std::vector<double> read(std::size_t index) const override {
    const TensorInfo& tensor = tensors_.at(index);
    const Place& place = places_.at(index);
    const std::string where = where_is(tensor.name);
    constexpr std::size_t kBlock = 8192;
    const std::size_t element_bytes = size_of(tensor.type);
    std::vector<double> out = allocate_elements(where, place.num_elements);
    std::vector<std::byte> stored(std::min(kBlock, out.size()) * element_bytes);
    for (std::size_t done = 0; done < out.size();) {
      const std::size_t count = std::min(kBlock, out.size() - done);
      const auto bytes = std::span(stored).first(count * element_bytes);
      file_->read_at(place.offset + done * element_bytes, bytes);
      decode_elements(
          where, tensor.type, ByteOrder::kLittle, bytes, std::span(out).subspan(done, count), done);
      done += count;
    }
    return out;
  }

  std::span<const std::shared_ptr<const InputFile>> files() const override { return {&file_, 1}; }

 private:
  struct Place {
    std::uint64_t offset = 0;  ///< in the file
    std::size_t num_elements = 0;
  };

  std::string where_is(const std::string& tensor) const {
    return fmt::format("{}: tensor '{}'", file_->path().string(), tensor);
  }

  std::string read_header(const std::string& where, const ReadLimits& limits) const {
    const std::string length = file_->text_at(0, kLengthBytes);
    if (length.size() < kLengthBytes) {
      throw InputError(
          fmt::format("{}: truncated: a safetensors file begins with 8 bytes that say "
                      "how long its header is (at byte 0), but the file has {} bytes",
                      where,
                      file_->size()));
    }
    const std::uint64_t header_bytes = load_length(length);
    if (header_bytes > limits.max_header_bytes) {
      throw InputError(
          fmt::format("{}: its safetensors header claims {} bytes (byte 0 of the "
                      "file); at most {} are read",
                      where,
                      header_bytes,
                      limits.max_header_bytes));
    }
    std::string header(static_cast<std::size_t>(header_bytes), '\0');
    file_->read_at(kLengthBytes, std::as_writable_bytes(std::span(header)));
    return header;
  }

  void add(const SafetensorsEntry& entry, std::uint64_t data, const ReadLimits& limits) {
    const std::string where = where_is(entry.name);
    const std::size_t num_elements = checked_num_elements(
        fmt::format("{} (header, near byte {} of the file)", where, entry.offset),
        entry.shape,
        limits);
    const std::optional<ElementType> type = safetensors_type(entry.type);
    if (!type) {
      std::string reason = reason_of(entry);
      check_odd_size(where + ": " + reason, entry, num_elements);
      unreadable_.push_back({entry.name, std::move(reason)});
      return;
    }
    const std::uint64_t num_bytes = std::uint64_t{num_elements} * size_of(*type);
    if (entry.end < entry.begin || entry.end - entry.begin != num_bytes) {
      throw InputError(
          fmt::format("{}: shape {} of {} needs {} bytes, but its data_offsets are {} and {} "
                      "(header, near byte {} of the file)",
                      where,
                      shape_text(entry.shape),
                      to_string(*type),
                      num_bytes,
                      entry.begin,
                      entry.end,
                      entry.offset));
    }
    tensors_.push_back({.name = entry.name, .shape = entry.shape, .type = *type});
    places_.push_back({data + entry.begin, num_elements});
  }

  /// For an unsupported type.
  static std::string reason_of(const SafetensorsEntry& entry) {
    return fmt::format(
        "its dtype is '{}' (header, near byte {} of the file), which is not supported: {} are; "
        "convert it where it was made, for example with tensor.float() in PyTorch",
        escaped(std::string_view(entry.type).substr(0, 100)),
        entry.offset,
        fmt::join(safetensors_type_names(), ", "));
  }

  /// Whether such a tensor is in the right place is left to check_coverage().
  static void check_odd_size(const std::string& where,
                             const SafetensorsEntry& entry,
                             std::uint64_t num_elements) {
    const std::string offsets =
        fmt::format("its data_offsets are {} and {}", entry.begin, entry.end);
    if (entry.end < entry.begin) throw InputError(fmt::format("{}; {}", where, offsets));
    const std::optional<std::uint64_t> bits = odd_safetensors_bits(entry.type);
    if (!bits) return;
    // Elements below one byte must fill their bytes.
    const std::uint64_t num_bits = num_elements * *bits;
    if (num_bits % 8 == 0 && entry.end - entry.begin == num_bits / 8) return;
    throw InputError(fmt::format(
        "{}; shape {} needs {} bits, but {}", where, shape_text(entry.shape), num_bits, offsets));
  }

  /// Checks that the tensors, sorted by position, cover the data without gaps or overlaps.
  void check_coverage(const std::vector<SafetensorsEntry>& entries, std::uint64_t data) const {
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) {
      return std::pair(entries[i].begin, entries[i].end);  // an empty tensor before its neighbour
    });
    const std::uint64_t data_bytes = file_->size() - data;
    std::uint64_t end = 0;
    for (const std::size_t i : order) {
      const SafetensorsEntry& entry = entries[i];
      if (entry.begin != end) {
        throw InputError(fmt::format(
            "{}: its data begin at byte {} of the file, but the tensor before it ends at byte {}: "
            "{}",
            where_is(entry.name),
            data + entry.begin,
            data + end,
            entry.begin < end ? "they overlap" : "the bytes between belong to no tensor"));
      }
      if (entry.end > data_bytes) {
        throw InputError(
            fmt::format("{}: truncated: its {} bytes begin at byte {}, but the file has "
                        "{} bytes",
                        where_is(entry.name),
                        entry.end - entry.begin,
                        data + entry.begin,
                        file_->size()));
      }
      end = entry.end;
    }
    if (end != data_bytes) {
      throw InputError(fmt::format("{}: {} bytes that belong to no tensor follow byte {}",
                                   file_->path().string(),
                                   data_bytes - end,
                                   data + end));
    }
  }

  std::shared_ptr<const InputFile> file_;
  std::vector<TensorInfo> tensors_;
  std::vector<Place> places_;  ///< one per tensor
  std::vector<UnreadableTensor> unreadable_;
};

}  // namespace

bool recognises_safetensors(const InputFile& file) {
  constexpr std::size_t kLongestPadding = 1024;  // skipped white space before the brace
  const std::string start = file.text_at(0, kLengthBytes + kLongestPadding);
  if (start.size() <= kLengthBytes) return false;
  // A length of eight printable characters would be at least 2^61: the file is text.
  const std::string_view length = std::string_view(start).substr(0, kLengthBytes);
  if (std::ranges::all_of(length, [](char c) { return (c >= ' ' && c <= '~') || c == '\n'; })) {
    return false;
  }
  const std::size_t brace = start.find_first_not_of(" \t\n\r", kLengthBytes);
  if (brace == std::string::npos || start[brace] != '{') return false;
  const std::size_t next = start.find_first_not_of(" \t\n\r", brace + 1);
  return next == std::string::npos || start[next] == '"' || start[next] == '}';
}

std::unique_ptr<TensorSource> open_safetensors(std::shared_ptr<const InputFile> file,
                                               const ReadLimits& limits) {
  return std::make_unique<SafetensorsSource>(std::move(file), limits);
}

}  // namespace hesscope::io
