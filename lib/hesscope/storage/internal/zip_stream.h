// SPDX-License-Identifier: BSD-3-Clause
//
// The content of one zip member.
#pragma once

#include <memory>

#include <hesscope/storage/input_file.h>
#include <hesscope/storage/internal/zip.h>

namespace hesscope::io {

/// The decoded bytes of `entry`, whose offsets and sizes have been checked against the file.
std::unique_ptr<ByteStream> open_zip_entry(std::shared_ptr<const InputFile> file,
                                           const ZipEntry& entry);

}  // namespace hesscope::io
