// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>
#include <vector>

#include <hesscope/hdf5/internal/hdf5_checks.h>
#include <hesscope/tensors/internal/elements.h>
#include <hesscope/tensors/internal/hdf5/hdf5_elements.h>

namespace hesscope::io {
namespace {

/// Reads exactly `count` elements: a dataset that has grown meanwhile cannot overrun `out`.
void read_as(const Hdf5Selection& from, hid_t memory_type, hsize_t count, void* out) {
  const Hid memory =
      checked(H5Screate_simple(1, &count, nullptr), H5Sclose, from.where, "reading it");
  if (H5Dread(from.dataset, memory_type, memory.get(), from.space, H5P_DEFAULT, out) < 0) {
    refuse_call(from.where, "reading it");
  }
}

/// Integers are read as 64-bit ones into the memory of the doubles to which they are then
/// converted.
template <typename Integer>
void read_integers(const Hdf5Selection& from, hid_t memory_type, std::span<double> out) {
  static_assert(sizeof(Integer) == sizeof(double));
  read_as(from, memory_type, out.size(), out.data());
  for (std::size_t i = 0; i < out.size(); ++i) {
    Integer value;
    std::memcpy(&value, &out[i], sizeof value);
    out[i] = exact_double(from.where, value, from.first + i);
  }
}

/// In their stored type, little-endian.
void read_stored(const Hdf5Selection& from, hid_t stored, std::span<double> out) {
  const ElementType type = from.type;
  std::vector<std::byte> bytes(out.size() * size_of(type));
  read_as(from, stored, out.size(), bytes.data());
  decode_elements(from.where, type, ByteOrder::kLittle, bytes, out, from.first);
}

}  // namespace

void read_selection(const Hdf5Selection& from, std::span<double> out) {
  const Hid stored = checked(H5Dget_type(from.dataset), H5Tclose, from.where, "reading its type");
  const ElementType type = from.type;
  // HDF5 would convert a boolean that is neither FALSE nor TRUE to something else.
  if (type == ElementType::kBool || H5Tget_class(stored.get()) == H5T_OPAQUE) {
    return read_stored(from, stored.get(), out);
  }
  if (type >= ElementType::kFloat16) {
    return read_as(from, H5T_NATIVE_DOUBLE, out.size(), out.data());
  }
  if (type >= ElementType::kUInt8) {
    return read_integers<std::uint64_t>(from, H5T_NATIVE_UINT64, out);
  }
  read_integers<std::int64_t>(from, H5T_NATIVE_INT64, out);
}

}  // namespace hesscope::io
