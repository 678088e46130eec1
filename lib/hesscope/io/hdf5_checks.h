// SPDX-License-Identifier: BSD-3-Clause
//
// Refusals of an HDF5 file, and checks of a dataset before it is read. Private to io.
#pragma once

#include <cstdint>
#include <string>

#include <hesscope/io/hdf5_handle.h>
#include <hesscope/io/tensor_file.h>

namespace hesscope::io {

/// @throws InputError "<where>: <what>".
[[noreturn]] void refuse(const std::string& where, const std::string& what);

/// To be called right after the HDF5 call that failed. @throws InputError with HDF5's text.
[[noreturn]] void refuse_call(const std::string& where, const std::string& doing);

/// Owner of what an HDF5 call returned. @throws InputError as refuse_call() if that failed.
Hid checked(hid_t id, Hid::Closer closer, const std::string& where, const std::string& doing);

/// Only HDF5's own filters, each at most once: chained deflates multiply their expansion.
/// @throws InputError "<where>: ..."
void check_filters(const std::string& where, hid_t properties);

/// Logical and stored size agree with each other, the file and the limits. Nothing is allocated
/// before. @throws InputError "<where>: ..."
void check_storage(const std::string& where,
                   hid_t dataset,
                   hid_t properties,
                   const TensorInfo& info,
                   std::uint64_t file_bytes,
                   const ReadLimits& limits);

}  // namespace hesscope::io
