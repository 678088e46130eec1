// SPDX-License-Identifier: BSD-3-Clause
#include <new>
#include <type_traits>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/exact_integers.h>
#include <hesscope/storage/internal/half_float.h>
#include <hesscope/tensors/internal/elements.h>

namespace hesscope::io {
namespace {

[[noreturn]] void refuse_integer(const std::string& where,
                                 const std::string& value,
                                 std::size_t index) {
  throw InputError(fmt::format(
      "{}: element {} (in stored order) is {}, beyond 2^53: a double cannot hold it exactly; "
      "save the tensor as float64 or as smaller integers",
      where,
      index,
      value));
}

template <ByteOrder order>
void decode(const std::string& where,
            ElementType type,
            std::span<const std::byte> in,
            std::span<double> out,
            std::size_t first) {
  const auto convert = [&]<typename Stored>(Stored, auto to_double) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = to_double(load<order, Stored>(in.data() + i * sizeof(Stored)), first + i);
    }
  };
  const auto as_is = [](auto value, std::size_t) { return static_cast<double>(value); };
  const auto exact = [&](auto value, std::size_t i) { return exact_double(where, value, i); };
  switch (type) {
    case ElementType::kBool:
      return convert(std::uint8_t{}, [&](std::uint8_t value, std::size_t i) {
        if (value > 1) {
          throw InputError(fmt::format(
              "{}: element {} (in stored order) is a boolean stored as {}; 0 or 1 is expected",
              where,
              i,
              value));
        }
        return static_cast<double>(value);
      });
    case ElementType::kInt8:
      return convert(std::int8_t{}, as_is);
    case ElementType::kInt16:
      return convert(std::int16_t{}, as_is);
    case ElementType::kInt32:
      return convert(std::int32_t{}, as_is);
    case ElementType::kInt64:
      return convert(std::int64_t{}, exact);
    case ElementType::kUInt8:
      return convert(std::uint8_t{}, as_is);
    case ElementType::kUInt16:
      return convert(std::uint16_t{}, as_is);
    case ElementType::kUInt32:
      return convert(std::uint32_t{}, as_is);
    case ElementType::kUInt64:
      return convert(std::uint64_t{}, exact);
    case ElementType::kFloat16:
      return convert(std::uint16_t{},
                     [](std::uint16_t bits, std::size_t) { return half_to_double(bits); });
    case ElementType::kBFloat16:
      return convert(std::uint16_t{},
                     [](std::uint16_t bits, std::size_t) { return bfloat16_to_double(bits); });
    case ElementType::kFloat32:
      return convert(float{}, as_is);
    case ElementType::kFloat64:
      return convert(double{}, as_is);
  }
}

}  // namespace

void decode_elements(const std::string& where,
                     ElementType type,
                     ByteOrder order,
                     std::span<const std::byte> in,
                     std::span<double> out,
                     std::size_t first) {
  if (in.size() != out.size() * size_of(type)) {
    throw PreconditionError(fmt::format("decode_elements: {} bytes given for {} elements of {}",
                                        in.size(),
                                        out.size(),
                                        to_string(type)));
  }
  if (order == ByteOrder::kLittle) {
    decode<ByteOrder::kLittle>(where, type, in, out, first);
  } else {
    decode<ByteOrder::kBig>(where, type, in, out, first);
  }
}

double exact_double(const std::string& where, std::int64_t value, std::size_t index) {
  if (!detail::is_exact_double(value)) refuse_integer(where, std::to_string(value), index);
  return static_cast<double>(value);
}

double exact_double(const std::string& where, std::uint64_t value, std::size_t index) {
  if (value > std::uint64_t{detail::kLargestExactInteger})
    refuse_integer(where, std::to_string(value), index);
  return static_cast<double>(value);
}

}  // namespace hesscope::io
