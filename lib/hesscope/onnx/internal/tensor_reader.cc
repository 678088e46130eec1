// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/parse_number.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/shape.h>
#include <hesscope/onnx/internal/tensor_reader.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/internal/byte_order.h>
#include <hesscope/storage/internal/half_float.h>
#include <hesscope/storage/internal/read_checks.h>

namespace hesscope::onnx {
namespace {

using hesscope_onnx::TensorProto;

/// Size of an element, unless it is kOther.
std::uint64_t bytes_of_element(std::int64_t onnx_type) {
  switch (onnx_type) {
    case TensorProto::UINT8:
    case TensorProto::INT8:
    case TensorProto::BOOL:
      return 1;
    case TensorProto::UINT16:
    case TensorProto::INT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return 2;
    case TensorProto::FLOAT:
    case TensorProto::INT32:
    case TensorProto::UINT32:
      return 4;
    default:
      return 8;
  }
}

bool has_typed_data(const TensorProto& stored) {
  return stored.float_data_size() != 0 || stored.double_data_size() != 0 ||
         stored.int32_data_size() != 0 || stored.int64_data_size() != 0 ||
         stored.uint64_data_size() != 0 || stored.string_data_size() != 0;
}

/// A number of bytes as written in external_data.
std::uint64_t number_of_bytes(const std::string& where,
                              const std::string& key,
                              const std::string& text) {
  if (const auto number = parse_number<std::uint64_t>(text)) return *number;
  throw InputError(fmt::format(
      "{}: the {} of its external data is '{}', which is no number", where, key, escaped(text)));
}

/// The contents of `external_data`; unknown keys are ignored.
struct ExternalPlace {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

ExternalPlace external_place(const std::string& where, const TensorProto& stored) {
  ExternalPlace place;
  for (const hesscope_onnx::StringStringEntryProto& entry : stored.external_data()) {
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() == "offset") place.offset = number_of_bytes(where, "offset", entry.value());
    if (entry.key() == "length") place.length = number_of_bytes(where, "length", entry.value());
  }
  return place;
}

}  // namespace

/// Elements as stored in the file: bytes, or a list of numbers of a wider type.
struct TensorReader::Elements {
  const std::string& where;
  std::size_t size;
  bool is_raw;
  std::span<const std::byte> raw;  // of size * bytes_of_element()

  /// out[i] = convert(element i), each of them a Stored.
  template <typename Stored, typename List, typename Out, typename Convert>
  void convert(const List& list, std::vector<Out>& out, const Convert& convert) const {
    if (!is_raw) require_listed(static_cast<std::size_t>(list.size()));
    out.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): an int8 is a number, whose sign is kept
      out[i] = static_cast<Out>(is_raw ? convert(io::load<io::ByteOrder::kLittle, Stored>(
                                             raw.data() + i * sizeof(Stored)))
                                       : convert(narrowed<Stored>(list[static_cast<int>(i)])));
    }
  }

  template <typename Stored, typename List, typename Out>
  void widen(const List& list, std::vector<Out>& out) const {
    convert<Stored>(list, out, [](Stored value) { return value; });
  }

  void require_listed(std::size_t num_listed) const {
    if (num_listed == size) return;
    throw InputError(fmt::format(
        "{}: it has {} elements, but {} are stored for its type", where, size, num_listed));
  }

  template <typename To, typename From>
  To narrowed(From value) const {
    if constexpr (std::is_integral_v<To>) {
      if (!std::in_range<To>(value)) {
        throw InputError(fmt::format("{}: an element is {}; from {} to {} are read for its type",
                                     where,
                                     value,
                                     std::numeric_limits<To>::min(),
                                     std::numeric_limits<To>::max()));
      }
    }
    return static_cast<To>(value);
  }
};

TensorReader::TensorReader(std::shared_ptr<const io::InputFile> model, const OnnxLimits& limits)
    : model_(std::move(model)), limits_(limits) {}

Tensor TensorReader::read(const std::string& where, const TensorProto& stored) {
  Tensor tensor;
  tensor.name = stored.name();
  tensor.onnx_type = stored.data_type();
  tensor.kind = element_kind(tensor.onnx_type);
  tensor.shape.assign(stored.dims().begin(), stored.dims().end());
  io::ReadLimits shape_limits;
  shape_limits.max_rank = limits_.max_rank;
  shape_limits.max_tensor_bytes = limits_.max_tensor_bytes;
  const std::size_t size = io::checked_num_elements(where, tensor.shape, shape_limits);
  if (tensor.kind == ElementKind::kOther) return tensor;

  if (stored.has_segment())
    throw InputError(where + ": it is stored in segments, which are not read");
  if (size > (limits_.max_total_bytes - num_bytes_) / sizeof(double)) {
    throw InputError(fmt::format("{}: with it, the tensors have more than {} bytes (as float64)",
                                 where,
                                 limits_.max_total_bytes));
  }
  const std::uint64_t num_bytes = size * bytes_of_element(tensor.onnx_type);
  const bool is_external = stored.data_location() == TensorProto::EXTERNAL;
  if ((is_external || stored.has_raw_data()) && has_typed_data(stored)) {
    throw InputError(where + ": its elements are stored twice, as bytes and as numbers");
  }
  std::vector<std::byte> external;
  Elements elements{where, size, is_external || stored.has_raw_data(), {}};
  if (is_external) {
    external = external_bytes(where, stored, num_bytes);
    elements.raw = external;
  } else if (stored.has_raw_data()) {
    elements.raw = std::as_bytes(std::span(stored.raw_data()));
    if (elements.raw.size() != num_bytes) {
      throw InputError(fmt::format("{}: shape {} of {} needs {} bytes, but {} are stored",
                                   where,
                                   shape_text(tensor.shape),
                                   type_name(tensor.onnx_type),
                                   num_bytes,
                                   elements.raw.size()));
    }
  }
  num_bytes_ += size * sizeof(double);

  std::vector<double>& reals = tensor.reals;
  std::vector<std::int64_t>& integers = tensor.integers;
  switch (tensor.onnx_type) {
    case TensorProto::FLOAT:
      elements.widen<float>(stored.float_data(), reals);
      break;
    case TensorProto::DOUBLE:
      elements.widen<double>(stored.double_data(), reals);
      break;
    case TensorProto::FLOAT16:
      elements.convert<std::uint16_t>(stored.int32_data(), reals, io::half_to_double);
      break;
    case TensorProto::BFLOAT16:
      elements.convert<std::uint16_t>(stored.int32_data(), reals, io::bfloat16_to_double);
      break;
    case TensorProto::INT8:
      elements.widen<std::int8_t>(stored.int32_data(), integers);
      break;
    case TensorProto::INT16:
      elements.widen<std::int16_t>(stored.int32_data(), integers);
      break;
    case TensorProto::INT32:
      elements.widen<std::int32_t>(stored.int32_data(), integers);
      break;
    case TensorProto::INT64:
      elements.widen<std::int64_t>(stored.int64_data(), integers);
      break;
    case TensorProto::UINT8:
      elements.widen<std::uint8_t>(stored.int32_data(), integers);
      break;
    case TensorProto::UINT16:
      elements.widen<std::uint16_t>(stored.int32_data(), integers);
      break;
    case TensorProto::UINT32:
      elements.widen<std::uint32_t>(stored.uint64_data(), integers);
      break;
    case TensorProto::UINT64:
      elements.convert<std::uint64_t>(stored.uint64_data(), integers, [&](std::uint64_t value) {
        return elements.narrowed<std::int64_t>(value);
      });
      break;
    default:  // BOOL
      elements.convert<std::uint8_t>(stored.int32_data(), integers, [&](std::uint8_t value) {
        if (value > 1) {
          throw InputError(
              fmt::format("{}: a truth value in it is {}; 0 and 1 are expected", where, value));
        }
        return value;
      });
  }
  return tensor;
}

std::vector<std::byte> TensorReader::external_bytes(const std::string& where,
                                                    const TensorProto& stored,
                                                    std::uint64_t num_bytes) {
  if (stored.has_raw_data()) {
    throw InputError(where + ": its data are external, but stand in the model, too");
  }
  const ExternalPlace place = external_place(where, stored);
  if (place.length && *place.length != num_bytes) {
    throw InputError(fmt::format(
        "{}: shape {} of {} needs {} bytes, but its external data have {}",
        where,
        shape_text(std::vector<std::int64_t>(stored.dims().begin(), stored.dims().end())),
        type_name(stored.data_type()),
        num_bytes,
        *place.length));
  }
  const io::InputFile& file = external_file(where, place.location);
  if (place.offset > file.size() || num_bytes > file.size() - place.offset) {
    throw InputError(
        fmt::format("{}: its external data are {} bytes at byte {} of {}, which has {} bytes",
                    where,
                    num_bytes,
                    place.offset,
                    file.path().string(),
                    file.size()));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(num_bytes));
  file.read_at(place.offset, bytes);
  return bytes;
}

const io::InputFile& TensorReader::external_file(const std::string& where,
                                                 const std::string& location) {
  constexpr std::size_t kMaxFiles = 500;  // all are open at a time
  const auto found = external_.find(location);
  if (found != external_.end()) return *found->second;
  if (external_.size() == kMaxFiles) {
    throw InputError(fmt::format("{}: external data in more than {} files", where, kMaxFiles));
  }
  try {
    // The name is from an untrusted file: nothing outside the model's folder is ever opened.
    auto file = io::InputFile::beside(*model_, location, "a file of external data");
    return *external_.emplace(location, std::move(file)).first->second;
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("{}: external data '{}' must lie in a plain file beside the model: {}",
                    where,
                    escaped(location),
                    error.what()));
  }
}

std::vector<std::shared_ptr<const io::InputFile>> TensorReader::files() const {
  std::vector<std::shared_ptr<const io::InputFile>> files = {model_};
  for (const auto& [name, file] : external_) files.push_back(file);
  return files;
}

}  // namespace hesscope::onnx
