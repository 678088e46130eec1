// SPDX-License-Identifier: BSD-3-Clause
#include "result_input.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/format_registry.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::cli {
namespace {

bool begins_as_hdf5(const std::string& path) {
  const io::FormatKind* const format =
      io::recognised_format(io::InputFile(path, "a hesscope result"));
  return format != nullptr && format->name == "hdf5";
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
