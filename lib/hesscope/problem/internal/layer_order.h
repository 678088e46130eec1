// SPDX-License-Identifier: BSD-3-Clause
//
// Which tensors form which layers of a perceptron, regardless of their names, if this is certain.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/tensors/tensor_file.h>
#include <hesscope/tensors/tensor_map.h>

namespace hesscope::detail {

struct LayerOrder {
  /// "layers.0.weight" and "layers.0.bias", if it has one, to the last layer. Empty if the tensors
  /// are not the layers of a perceptron, or if there is a doubt.
  std::vector<io::TensorRule> rules = {};
  /// Why the correspondence is uncertain: "'a.weight' and 'b.weight' could be either way round".
  std::string doubt = {};
};

/// Matrices, and vectors for all of them, or, if there are several, for none or for all but the
/// last, form layers, each of which accepts the output of the previous one; the matrices of all
/// layers are (out, in), or all are (in, out). If several orders are possible, numbers decide among
/// names that differ only in numbers (net.2 before net.10, dense before dense_1), then
/// `is_in_order`; a matrix and a vector whose names differ in one word belong together.
/// @param is_in_order  whether the format keeps the order of a model's layers; tensors that are
///                     sorted by name do not count as ordered.
/// @param fits         whether a model with these rules fits the data.
LayerOrder layers_by_shapes(std::span<const io::TensorInfo> tensors,
                            bool is_in_order,
                            const std::function<bool(const std::vector<io::TensorRule>&)>& fits);

/// Whether the format keeps the order in which a checkpoint was assembled, and programs that write
/// it take that order from the model. True for PyTorch's own format only: safetensors are sorted by
/// name, and so are HDF5 groups and the nested dicts of JAX, in whatever format they are saved.
bool keeps_order_of_layers(const io::TensorFile& checkpoint);

}  // namespace hesscope::detail
