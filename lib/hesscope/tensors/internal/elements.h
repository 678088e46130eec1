// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by all readers of tensors: conversion of stored elements to double.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <hesscope/storage/internal/byte_order.h>
#include <hesscope/storage/internal/read_checks.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// Converts out.size() stored elements; in.size() = out.size() * size_of(type).
/// @throws InputError "<where>: ..." for an integer beyond 2^53, or a boolean other than 0 and 1;
///         `first` is the index, in stored order, of the first of these elements.
void decode_elements(const std::string& where,
                     ElementType type,
                     ByteOrder order,
                     std::span<const std::byte> in,
                     std::span<double> out,
                     std::size_t first);

/// The integer as a double. @throws InputError naming `where` and `index` if |value| > 2^53.
double exact_double(const std::string& where, std::int64_t value, std::size_t index);
double exact_double(const std::string& where, std::uint64_t value, std::size_t index);

}  // namespace hesscope::io
