// SPDX-License-Identifier: BSD-3-Clause
//
// Refusals of an HDF5 file, and checks of a dataset before it is read.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <hesscope/hdf5/internal/hdf5_handle.h>
#include <hesscope/storage/read_limits.h>

namespace hesscope::io {

/// @throws InputError "<where>: <what>".
[[noreturn]] void refuse(const std::string& where, const std::string& what);

/// To be called right after the HDF5 call that failed. @throws InputError with HDF5's text.
[[noreturn]] void refuse_call(const std::string& where, const std::string& doing);

/// Owner of the identifier returned by an HDF5 call. @throws InputError as refuse_call() if it
/// failed.
Hid checked(hid_t id, Hid::Closer closer, const std::string& where, const std::string& doing);

/// Allows only HDF5's own filters, each at most once: chained deflates multiply their expansion.
/// @throws InputError "<where>: ..."
void check_filters(const std::string& where, hid_t properties);

/// Checks that logical and stored size are consistent with each other, the file and the limits,
/// before anything is allocated. @throws InputError "<where>: ..."
void check_storage(const std::string& where,
                   hid_t dataset,
                   hid_t properties,
                   std::span<const std::int64_t> shape,
                   std::uint64_t file_bytes,
                   const ReadLimits& limits);

/// The same, but compares the data with the whole file: a variable with one number throughout, such
/// as the statuses of a good result, may compress beyond what check_storage() accepts.
/// @param element_bytes  of one decoded element.
void check_storage_in_file(const std::string& where,
                           hid_t properties,
                           std::span<const std::int64_t> shape,
                           std::uint64_t element_bytes,
                           std::uint64_t file_bytes,
                           const ReadLimits& limits);

/// Checks that data lie in the file itself. @throws InputError "<where>: ..." for external storage
/// and virtual datasets.
void check_layout(const std::string& where, hid_t properties);

}  // namespace hesscope::io
