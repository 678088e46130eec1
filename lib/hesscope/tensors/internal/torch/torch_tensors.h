// SPDX-License-Identifier: BSD-3-Clause
//
// Tensors in the pickle of a PyTorch checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <hesscope/tensors/internal/torch/pickle_nodes.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// Element (i_1, ..., i_r) is number offset + sum_k i_k strides_k of a storage. Several indices may
/// refer to the same element: strides can be 0.
struct StridedLayout {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< >= 0, as many as extents
  std::uint64_t offset = 0;
};

/// A tensor as described in the pickle; its last element is within its storage.
struct TorchTensor {
  std::string storage;  ///< key: the member data/KEY
  std::uint64_t storage_bytes = 0;
  ElementType type = ElementType::kFloat64;
  StridedLayout layout;
};

/// True for an object made by one of torch's functions that make tensors.
bool is_torch_tensor(const PickleDocument& document, PickleIndex node);

/// The tensor described by a node that is_torch_tensor(), or why it cannot be read: "its elements
/// are torch.ComplexFloatStorage".
/// @param where  the pickle and the tensor's name, for messages.
/// @throws InputError for damage, negative strides, elements outside the storage, and tensors
///         beyond the limits; with the byte offset.
std::variant<TorchTensor, std::string> describe_torch_tensor(const std::string& where,
                                                             const PickleDocument& document,
                                                             PickleIndex node,
                                                             const ReadLimits& limits);

struct NamedNode {
  std::string name;
  PickleIndex node;
};

/// All tensors that can be reached from the root, in the order of the checkpoint; a tensor with
/// several names is listed under each of them. Names are keys, attributes and positions in lists,
/// joined by dots, as in state_dict(), also if a whole torch.nn.Module was saved. A key that is
/// neither text nor a number is replaced by its position in the dict: "[3]".
/// @param root_name  for a tensor that is the root itself.
/// @throws InputError for names that are not printable or longer than 4096 bytes, keys that occur
///         twice, more tensors than `limits` allow, nesting deeper than 1000, and graphs with more
///         than 4 million paths to containers.
std::vector<NamedNode> find_torch_tensors(const std::string& where,
                                          const PickleDocument& document,
                                          const std::string& root_name,
                                          const ReadLimits& limits);

/// TensorSource::values() for a pickle, in its order. At most the first 1000 elements of a list,
/// 50,000 values and 200,000 steps, since a small pickle can share things without end.
std::vector<FileValue> find_values(const PickleDocument& document);

/// The number with this name, named as tensors are. A bool is 0 or 1.
std::optional<double> find_number(const PickleDocument& document, std::string_view name);

}  // namespace hesscope::io
