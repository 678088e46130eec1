// SPDX-License-Identifier: BSD-3-Clause
#include "result_input.h"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/io/tensor_file.h>

namespace hesscope::cli {
namespace {

bool begins_as_hdf5(const std::string& path) {
  constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
  std::string begin(kSignature.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == kSignature;
}

}  // namespace

io::ResultReader open_result(const std::string& path) {
  std::error_code none;
  if (std::filesystem::exists(path, none) && !io::is_result_file(path)) {
    if (begins_as_hdf5(path)) io::open_tensor_file(path);  // says what is wrong with a damaged one
    throw InputError(fmt::format("{}: is not a hesscope result", path));
  }
  return io::ResultReader(path);
}

}  // namespace hesscope::cli
