// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/core/error.h>
#include <hesscope/models/tensor_copies.h>
#include <hesscope/problem/checkpoint_buffers.h>

namespace hesscope {

std::shared_ptr<const CheckpointBuffers> buffers_of(const Model& model,
                                                    const io::TensorFile& checkpoint) {
  auto found = std::make_shared<CheckpointBuffers>();
  found->source = checkpoint.where();
  found->format = checkpoint.format();
  bool are_those_of_the_model = true;
  for (const ModelBuffer& buffer : model.buffers) {
    if (buffer.values.empty()) continue;
    const bool is_there = checkpoint.find(buffer.name) != nullptr;
    if (!is_there && buffer.values_if_absent.empty()) {
      are_those_of_the_model = false;  // the kind then knows what to use
      continue;
    }
    std::vector<double> values = is_there ? checkpoint.read(buffer.name) : buffer.values_if_absent;
    are_those_of_the_model = are_those_of_the_model && are_same(values, buffer.values);
    found->values[buffer.name] = std::move(values);
  }
  if (are_those_of_the_model) return nullptr;
  for (const ModelBuffer& buffer : model.buffers) {
    if (!buffer.values.empty() || checkpoint.find(buffer.name) == nullptr) continue;
    found->values[buffer.name] = checkpoint.read(buffer.name);
  }
  return found;
}

TensorShapes as_checkpoint(const Model& model,
                           const Eigen::VectorXd& theta,
                           const CheckpointBuffers& buffers) {
  TensorShapes shapes{.source = buffers.source, .shapes = {}, .format = buffers.format};
  for (const ParameterBlock& block : model.parameters) shapes.shapes[block.name] = block.shape;
  for (const ModelBuffer& buffer : model.buffers) {
    if (buffers.values.contains(buffer.name)) shapes.shapes[buffer.name] = buffer.shape;
  }
  for (const ModelTie& tie : model.ties) shapes.ties.push_back({tie.to, tie.name});
  for (const auto& [name, shape] : shapes.shapes) shapes.types[name] = io::ElementType::kFloat64;
  shapes.read = [parameters = model.parameters, theta, buffers](const std::string& name) {
    const auto buffer = buffers.values.find(name);
    if (buffer != buffers.values.end()) return buffer->second;
    const auto block = std::ranges::find(parameters, name, &ParameterBlock::name);
    if (block == parameters.end()) {
      throw InputError(buffers.source + ": no tensor '" + name + "'");
    }
    const double* const first = theta.data() + block->offset;
    return std::vector<double>(first, first + block->size);
  };
  return shapes;
}

bool are_other_buffers(const Model& model, const CheckpointBuffers* a, const CheckpointBuffers* b) {
  return std::ranges::any_of(model.buffers, [&](const ModelBuffer& buffer) {
    if (buffer.values.empty()) return false;
    const auto in = [&](const CheckpointBuffers* held) -> const std::vector<double>* {
      if (held == nullptr) return &buffer.values;
      const auto found = held->values.find(buffer.name);
      return found == held->values.end() ? nullptr : &found->second;
    };
    const std::vector<double>* const x = in(a);
    const std::vector<double>* const y = in(b);
    return x != nullptr && y != nullptr && !are_same(*x, *y);
  });
}

bool have_equal_buffers(const Model& a, const Model& b) {
  return std::ranges::equal(a.buffers, b.buffers, [](const ModelBuffer& x, const ModelBuffer& y) {
    return x.name == y.name && x.shape == y.shape && are_same(x.values, y.values);
  });
}

}  // namespace hesscope
