// SPDX-License-Identifier: BSD-3-Clause
//
// Which tensors are which layers of a perceptron, whatever their names, where that is certain.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/tensors/tensor_file.h>
#include <hesscope/tensors/tensor_map.h>

namespace hesscope::detail {

struct LayerOrder {
  /// "layers.0.weight" and "layers.0.bias" to the last layer. Empty where these are no layers of a
  /// perceptron, and where there is a doubt.
  std::vector<io::TensorRule> rules = {};
  /// Why it is not certain which is which: "'a.weight' and 'b.weight' could be either way round".
  std::string doubt = {};
};

/// As many matrices as vectors are layers, each of which takes what the one before gives; matrices
/// of all layers are (out, in), or all of them (in, out). Of several orders that go so, numbers in
/// names that differ in numbers alone decide (net.2 before net.10, dense before dense_1), then
/// `is_in_order`; a matrix and a vector whose names differ in one word go together.
/// @param is_in_order  whether the format keeps the order in which a model has its layers; tensors
///                     that are sorted by name do not count as in order.
/// @param fits         whether a model of these rules goes with the data.
LayerOrder layers_by_shapes(std::span<const io::TensorInfo> tensors,
                            bool is_in_order,
                            const std::function<bool(const std::vector<io::TensorRule>&)>& fits);

/// Whether the format keeps the order in which a checkpoint was put together, and what writes it
/// has that order from the model. Of PyTorch's own alone: safetensors are sorted by name, and so
/// are groups of HDF5 and what JAX makes of nested dicts, in whatever they are saved.
bool keeps_order_of_layers(const io::TensorFile& checkpoint);

}  // namespace hesscope::detail
