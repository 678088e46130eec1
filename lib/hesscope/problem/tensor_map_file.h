// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include <hesscope/tensors/tensor_map.h>

namespace hesscope {

/// Reads a map of tensor names:
///
///   key = "model"                          # only tensors model.NAME, as NAME
///   ignore = ["epoch", "running_*"]        # not parameters of the model
///   [map]                                  # OUR NAME = THEIR NAME
///   "layers.0.weight" = "net.0.w"
///   "layers.*.bias" = "net.*.b"            # a '*' stands for the same text on both sides
///   "layers.1.weight" = { name = "dense/kernel", transpose = true }
///
/// `key` and `ignore` are optional.
/// @throws ConfigError "FILE:LINE: ..." for a file that cannot be read, is not TOML, has unknown or
///         ill-typed keys, a name with two '*', or a '*' on one side only.
io::TensorMap read_tensor_map(const std::filesystem::path& path);

/// The map as TOML that reads back as the same map, independent of its file's order and comments,
/// as recorded in results.
std::string resolved_toml(const io::TensorMap& map);

}  // namespace hesscope
