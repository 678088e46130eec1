// SPDX-License-Identifier: BSD-3-Clause
//
// Format: numpy/lib/format.py, "NPY format". The header is a Python dict literal, but NumPy writes
// only a small subset of that language, and exactly that is parsed here: a dict with three known
// keys, strings without escapes, True and False, a tuple of non-negative integers.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/tensors/internal/elements.h>
#include <hesscope/tensors/internal/numpy/npy.h>
#include <hesscope/tensors/internal/numpy/npy_types.h>

namespace hesscope::io {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeaderBytes =
    std::size_t{64} * 1024;  // NumPy itself refuses more than 10,000

/// "(at byte 60 of the .npy)": for a member of an archive, the byte of its decoded content.
[[noreturn]] void refuse_at(const std::string& where, std::size_t byte, const std::string& what) {
  throw InputError(fmt::format("{}: {} (at byte {} of the .npy)", where, what, byte));
}

class HeaderParser {
 public:
  /// @param offset  byte of the .npy at which `text` begins.
  HeaderParser(std::string_view text, std::size_t offset, const std::string& where)
      : text_(text), offset_(offset), where_(where) {}

  /// The position of the shape in the .npy.
  std::size_t shape_offset() const { return shape_offset_; }

  /// The name of the dtype, for messages.
  const std::string& type_name() const { return type_name_; }

  /// The size of one element, unless the dtype is structured.
  std::optional<std::uint64_t> element_bytes() const { return element_bytes_; }

  /// Fills in type, byte_order, unreadable, is_fortran_order and shape.
  void parse(NpyHeader& header) {
    bool has_type = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr") {
        once(has_type, key);
        parse_descr(header);
      } else if (key == "fortran_order") {
        once(has_order, key);
        header.is_fortran_order = boolean();
      } else if (key == "shape") {
        once(has_shape, key);
        skip_space();
        shape_offset_ = offset_ + position_;
        header.shape = tuple();
      } else {
        refuse(fmt::format("unknown key '{}'", escaped(key)));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (position_ != text_.size()) refuse("text follows the closing brace");
    if (!has_type || !has_order || !has_shape) {
      refuse("descr, fortran_order and shape are expected, not all are there");
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    refuse_at(where_, offset_ + position_, "damaged .npy header: " + what);
  }

  void once(bool& seen, std::string_view key) const {
    if (std::exchange(seen, true)) refuse(fmt::format("'{}' occurs twice", key));
  }

  void skip_space() {
    position_ = std::min(text_.find_first_not_of(" \n", position_), text_.size());
  }

  bool accept(char character) {
    skip_space();
    const bool is_there = position_ < text_.size() && text_[position_] == character;
    if (is_there) ++position_;
    return is_there;
  }

  bool accept_word(std::string_view word) {
    skip_space();
    const bool is_there = text_.substr(position_).starts_with(word);
    if (is_there) position_ += word.size();
    return is_there;
  }

  void expect(char character) {
    if (!accept(character)) refuse(fmt::format("'{}' expected", character));
  }

  std::string_view string() {
    skip_space();
    const char quote = position_ < text_.size() ? text_[position_] : '\0';
    if (quote != '\'' && quote != '"') refuse("a quoted string expected");
    const std::size_t end = text_.find(quote, position_ + 1);
    if (end == std::string_view::npos) refuse("a string is not closed");
    const std::string_view value = text_.substr(position_ + 1, end - position_ - 1);
    if (value.find('\\') != std::string_view::npos) refuse("a string with escapes");
    position_ = end + 1;
    return value;
  }

  bool boolean() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    refuse("True or False expected");
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> extents;
    expect('(');
    while (!accept(')')) {
      skip_space();
      std::int64_t extent = 0;
      const char* const begin = text_.data() + position_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0) refuse("a non-negative extent expected");
      position_ += static_cast<std::size_t>(end - begin);
      if (text_.substr(position_).starts_with('L')) ++position_;  // a long of Python 2
      extents.push_back(extent);
      if (accept(',')) continue;
      if (extents.size() == 1) refuse("(n) is no tuple, (n,) expected");
      expect(')');
      break;
    }
    return extents;
  }

  void parse_descr(NpyHeader& header) {
    skip_space();
    const std::size_t begin = position_;
    if (position_ < text_.size() && (text_[position_] == '[' || text_[position_] == '(')) {
      std::size_t length = 0;
      OddNpyType odd = structured_npy_type(text_.substr(position_), length);
      position_ += length;
      return pass_over(std::move(odd), begin, header);
    }
    const std::string_view descr = string();
    const char order = descr.empty() ? '\0' : descr[0];
    const auto type = descr.empty() ? std::nullopt : npy_type(descr.substr(1));
    if (!type) return pass_over(odd_npy_type(descr), begin, header);
    const bool needs_order = size_of(*type) > 1;
    if (order != '<' && order != '>' && (order != '|' || needs_order)) {
      refuse(fmt::format("type '{}' has no byte order", escaped(descr)));
    }
    header.type = *type;
    header.byte_order = order == '>' ? ByteOrder::kBig : ByteOrder::kLittle;
    type_name_ = to_string(*type);
    element_bytes_ = size_of(*type);
  }

  void pass_over(OddNpyType odd, std::size_t begin, NpyHeader& header) {
    std::string reason =
        fmt::format("its dtype (at byte {} of the .npy) is {}, which is not supported; {}",
                    offset_ + begin,
                    odd.name,
                    odd.advice);
    if (!odd.is_harmless) throw InputError(fmt::format("{}: {}", where_, reason));
    header.unreadable = UnreadableTensor{{}, std::move(reason), odd.is_text};
    type_name_ = std::move(odd.name);
    element_bytes_ = odd.element_bytes;
  }

  std::string_view text_;
  std::size_t offset_;
  const std::string& where_;
  std::size_t position_ = 0;  ///< in text_
  std::size_t shape_offset_ = 0;
  std::string type_name_;
  std::optional<std::uint64_t> element_bytes_;
};

/// Moves elements from Fortran order (first index fastest) to row-major order.
class FortranScatter {
 public:
  explicit FortranScatter(std::span<const std::int64_t> shape)
      : shape_(shape.begin(), shape.end()), strides_(shape.size()), index_(shape.size()) {
    std::int64_t stride = 1;
    for (std::size_t axis = shape_.size(); axis-- > 0;) {
      strides_[axis] = stride;
      stride *= shape_[axis];
    }
  }

  void put(std::span<const double> values, std::span<double> out) {
    for (const double value : values) {
      out[static_cast<std::size_t>(target_)] = value;
      for (std::size_t axis = 0; axis < shape_.size(); ++axis) {
        target_ += strides_[axis];
        if (++index_[axis] < shape_[axis]) break;
        target_ -= strides_[axis] * shape_[axis];
        index_[axis] = 0;
      }
    }
  }

 private:
  std::vector<std::int64_t> shape_;
  std::vector<std::int64_t> strides_;
  std::vector<std::int64_t> index_;  ///< of the next element
  std::int64_t target_ = 0;          ///< its place in row-major order: index_ . strides_
};

/// Checks that the stream, which is at the first element, is as long as the elements.
void check_size(const ByteStream& stream, const NpyHeader& header, const HeaderParser& parser) {
  if (!parser.element_bytes()) return;
  const std::uint64_t bytes = *parser.element_bytes();
  const std::uint64_t there = stream.remaining();
  // For an unsupported type, any number of bytes may be claimed.
  const bool is_as_long =
      bytes == 0 ? there == 0 : there % bytes == 0 && there / bytes == header.num_elements;
  if (is_as_long) return;
  refuse_at(stream.where(),
            header.header_bytes,
            fmt::format("shape {} of {} needs {} bytes, but {} bytes of data are there",
                        shape_text(header.shape),
                        parser.type_name(),
                        header.num_elements * bytes,
                        there));
}

}  // namespace

NpyHeader read_npy_header(ByteStream& stream, const ReadLimits& limits) {
  const std::string& where = stream.where();
  const std::uint64_t stream_bytes = stream.remaining();
  std::array<std::byte, 8> magic;
  stream.read(magic);
  if (!std::ranges::equal(std::span(magic).first(kNpyMagic.size()),
                          std::as_bytes(std::span(kNpyMagic)))) {
    refuse_at(where, 0, "is not a NumPy array (it does not begin with \\x93NUMPY)");
  }
  const auto version = std::to_integer<int>(magic[6]);
  if (version < 1 || version > 3 || magic[7] != std::byte{0}) {
    refuse_at(where,
              kNpyMagic.size(),
              fmt::format(".npy version {}.{} is not supported (1.0, 2.0 and 3.0 are)",
                          version,
                          std::to_integer<int>(magic[7])));
  }
  std::array<std::byte, 4> length{};  // version 1 has two bytes, the others have four
  stream.read(std::span(length).first(version == 1 ? 2 : 4));
  const auto text_bytes = load<ByteOrder::kLittle, std::uint32_t>(length.data());
  if (text_bytes > std::min(kMaxHeaderBytes, limits.max_header_bytes)) {
    refuse_at(
        where, magic.size(), fmt::format("damaged .npy header: it claims {} bytes", text_bytes));
  }
  std::string text(text_bytes, '\0');
  const auto text_offset = static_cast<std::size_t>(stream_bytes - stream.remaining());
  stream.read(std::as_writable_bytes(std::span(text)));

  NpyHeader header;
  HeaderParser parser(text, text_offset, where);
  parser.parse(header);
  header.header_bytes = text_offset + text.size();
  header.num_elements = checked_num_elements(
      fmt::format("{}: header (at byte {} of the .npy)", where, parser.shape_offset()),
      header.shape,
      limits);
  check_size(stream, header, parser);
  return header;
}

std::vector<double> read_npy(ByteStream& stream, const NpyHeader& header) {
  if (header.unreadable) {
    throw InputError(fmt::format("{}: {}", stream.where(), header.unreadable->reason));
  }
  std::vector<std::byte> before(header.header_bytes);
  stream.read(before);

  constexpr std::size_t kBlock = 8192;
  const std::size_t element_bytes = size_of(header.type);
  std::vector<double> out = allocate_elements(stream.where(), header.num_elements);
  std::vector<std::byte> stored(std::min(kBlock, out.size()) * element_bytes);
  std::vector<double> block(header.is_fortran_order ? std::min(kBlock, out.size()) : 0);
  FortranScatter scatter(header.shape);
  for (std::size_t done = 0; done < out.size();) {
    const std::size_t count = std::min(kBlock, out.size() - done);
    const auto bytes = std::span(stored).first(count * element_bytes);
    const auto target = header.is_fortran_order ? std::span(block).first(count)
                                                : std::span(out).subspan(done, count);
    stream.read(bytes);
    decode_elements(stream.where(), header.type, header.byte_order, bytes, target, done);
    if (header.is_fortran_order) scatter.put(target, out);
    done += count;
  }
  stream.finish();
  return out;
}

}  // namespace hesscope::io
