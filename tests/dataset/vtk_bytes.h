// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers as in a binary file of VTK's legacy format: the most significant byte first.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace hesscope::test {

inline std::string big_endian(std::uint64_t bits, int num_bytes) {
  std::string bytes;
  for (int i = num_bytes; i-- > 0;) bytes += static_cast<char>(bits >> (8 * i));
  return bytes;
}

inline std::string doubles(const std::vector<double>& values) {
  std::string bytes;
  for (const double value : values) bytes += big_endian(std::bit_cast<std::uint64_t>(value), 8);
  return bytes;
}

inline std::string integers(const std::vector<std::uint32_t>& values) {
  std::string bytes;
  for (const std::uint32_t value : values) bytes += big_endian(value, 4);
  return bytes;
}

inline std::string scalars(const std::string& name, const std::vector<double>& values) {
  return "SCALARS " + name + " double 1\nLOOKUP_TABLE default\n" + doubles(values) + "\n";
}

}  // namespace hesscope::test
