// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/growing_list.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/checkpoint_file.h>
#include <hesscope/tensors/format_registry.h>
#include <hesscope/tensors/internal/hdf5/hdf5_reader.h>
#include <hesscope/tensors/internal/hdf5/keras_reader.h>
#include <hesscope/tensors/internal/numpy/npz_reader.h>
#include <hesscope/tensors/internal/numpy/npz_writer.h>
#include <hesscope/tensors/internal/onnx/onnx_reader.h>
#include <hesscope/tensors/internal/safetensors/safetensors_reader.h>
#include <hesscope/tensors/internal/safetensors/safetensors_writer.h>
#include <hesscope/tensors/internal/sharded_reader.h>
#include <hesscope/tensors/internal/torch/torch_reader.h>

namespace hesscope::io {
namespace {

// Safetensors come before pickles: their initial length may look like the mark of a pickle, 0x80
// 0x02.
constexpr std::array<FormatKind, 8> kFormats = {{
    {"npz", ".npz", "NumPy archive", &recognises_npz, &open_npz, &write_npz},
    {"npy", ".npy", "NumPy array", &recognises_npy, &open_npy, &write_npy},
    {"hdf5", ".h5", "HDF5 file", &recognises_hdf5, &open_hdf5, &write_checkpoint},
    {"keras", ".keras", "Keras model", &recognises_keras, &open_keras},
    {"safetensors",
     ".safetensors",
     "safetensors file",
     &recognises_safetensors,
     &open_safetensors,
     &write_safetensors,
     true},
    {.name = "pt",
     .extension = ".pt",
     .summary = "PyTorch checkpoint",
     .recognises = &recognises_torch,
     .open = &open_torch,
     .other_extension = ".pth"},
    {.name = "index",
     .extension = ".json",
     .summary = "index of a checkpoint in several files",
     .recognises = &recognises_shard_index,
     .open = &open_shard_index,
     .names_files = true},
    {.name = "onnx",
     .extension = ".onnx",
     .summary = "ONNX model",
     .recognises = &recognises_onnx_model,
     .open = &open_onnx_model,
     .names_files = true},
}};

GrowingList<FormatKind>& format_registry() {
  static GrowingList<FormatKind> all({kFormats.begin(), kFormats.end()});
  return all;
}

}  // namespace

std::span<const FormatKind> format_kinds() { return format_registry().all(); }

void register_format_kind(const FormatKind& kind) {
  const auto refuse = [&kind](const std::string& why) {
    throw PreconditionError(
        fmt::format("register_format_kind: format '{}' {}", printable(kind.name), why));
  };
  if (kind.name.empty()) refuse("has no name");
  if (kind.recognises == nullptr || kind.open == nullptr) {
    refuse("has no function `recognises`, or none `open`");
  }
  add_kind(format_registry(), kind, refuse);
}

const FormatKind& find_format_kind(std::string_view name) {
  return find_named(format_kinds(), name, "format");
}

const FormatKind* recognised_format(const InputFile& file, const ReadLimits& limits) {
  if (file.size() > limits.max_file_bytes) {
    throw InputError(fmt::format("{}: has {} bytes; at most {} are read",
                                 file.path().string(),
                                 file.size(),
                                 limits.max_file_bytes));
  }
  const std::span<const FormatKind> formats = format_kinds();
  const auto found = std::ranges::find_if(
      formats, [&](const FormatKind& format) { return format.recognises(file); });
  return found == formats.end() ? nullptr : &*found;
}

}  // namespace hesscope::io
