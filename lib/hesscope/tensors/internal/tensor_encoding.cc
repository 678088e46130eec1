// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/extents.h>
#include <hesscope/core/printable.h>
#include <hesscope/storage/internal/byte_order.h>
#include <hesscope/storage/internal/half_float.h>
#include <hesscope/tensors/internal/tensor_encoding.h>

namespace hesscope::io {
namespace {

[[noreturn]] void refuse_value(const std::string& where,
                               ElementType type,
                               std::size_t index,
                               double value) {
  throw OutputError(
      fmt::format("{}: element {} is {}, which {} does not hold; store the tensor as float64",
                  where,
                  index,
                  value,
                  to_string(type)));
}

template <typename Integer>
bool is_held(double value) {
  constexpr double kLargestExact = 0x1p53;
  return value == std::trunc(value) && std::abs(value) <= kLargestExact &&
         value >= static_cast<double>(std::numeric_limits<Integer>::min()) &&
         value <= static_cast<double>(std::numeric_limits<Integer>::max());
}

}  // namespace

void require_tensors(const char* function, std::span<const CheckpointTensor> tensors) {
  std::unordered_set<std::string_view> names;
  for (const CheckpointTensor& tensor : tensors) {
    const std::optional<std::int64_t> size = detail::num_entries(tensor.shape);
    if (tensor.name.empty() || !is_printable_utf8(tensor.name) || !size ||
        static_cast<std::size_t>(*size) != tensor.values.size()) {
      throw PreconditionError(fmt::format(
          "{}: a tensor needs a name of UTF-8 text and as many values as its shape says, got '{}' "
          "of shape {} with {}",
          function,
          escaped(tensor.name),
          shape_text(tensor.shape),
          tensor.values.size()));
    }
    if (!names.insert(tensor.name).second) {
      throw PreconditionError(fmt::format("{}: two tensors are named '{}'", function, tensor.name));
    }
  }
}

void encode_elements(const std::string& where,
                     ElementType type,
                     std::span<const double> values,
                     std::string& bytes) {
  bytes.reserve(bytes.size() + values.size() * size_of(type));
  const auto store = [&](auto convert, auto is_fine) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!is_fine(values[i])) refuse_value(where, type, i, values[i]);
      append_little(bytes, convert(values[i]));
    }
  };
  const auto integers = [&]<typename Integer>(Integer) {
    store([](double v) { return static_cast<Integer>(v); }, is_held<Integer>);
  };
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  switch (type) {
    case ElementType::kBool:
      return store([](double v) { return static_cast<std::uint8_t>(v); },
                   [](double v) { return v == 0 || v == 1; });
    case ElementType::kInt8:
      return integers(std::int8_t{});
    case ElementType::kInt16:
      return integers(std::int16_t{});
    case ElementType::kInt32:
      return integers(std::int32_t{});
    case ElementType::kInt64:
      return integers(std::int64_t{});
    case ElementType::kUInt8:
      return integers(std::uint8_t{});
    case ElementType::kUInt16:
      return integers(std::uint16_t{});
    case ElementType::kUInt32:
      return integers(std::uint32_t{});
    case ElementType::kUInt64:
      return integers(std::uint64_t{});
    case ElementType::kFloat16:
      return store(half_bits, [&](double v) { return same(half_to_double(half_bits(v)), v); });
    case ElementType::kBFloat16:
      return store(bfloat16_bits,
                   [&](double v) { return same(bfloat16_to_double(bfloat16_bits(v)), v); });
    case ElementType::kFloat32:
      return store(
          [](double v) { return static_cast<float>(v); },
          [](double v) { return !std::isfinite(v) || std::isfinite(static_cast<float>(v)); });
    case ElementType::kFloat64:
      return store([](double v) { return v; }, [](double) { return true; });
  }
}

}  // namespace hesscope::io
