// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/shape.h>
#include <hesscope/models/internal/target_shapes.h>
#include <hesscope/models/model.h>

namespace hesscope {
namespace {

// Checks sizes whose product could overflow.
void require_extents(const std::string& name, const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t kMaxEntries = std::int64_t{1} << 53;
  bool is_fine = shape.size() <= ModelBuilder::kMaxRank;
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) {
    is_fine = is_fine && extent >= 1 && extent <= kMaxEntries / size;
    if (is_fine) size *= extent;
  }
  if (!is_fine) {
    throw PreconditionError(
        fmt::format("ModelBuilder: bad shape {} for '{}'", shape_text(shape), name));
  }
}

// Rows and columns of the recorded matrix.
std::pair<Eigen::Index, Eigen::Index> matrix_of(const std::vector<std::int64_t>& shape) {
  if (shape.size() < 2) return {shape.empty() ? 1 : shape[0], 1};
  return {detail::volume_of(shape) / shape.back(), shape.back()};
}

// Checkpoints and data files are searched for these names.
template <typename Named>
void require_new(const std::string& name, const std::vector<Named>& known) {
  if (name.empty() || !is_printable_utf8(name)) {
    throw PreconditionError(
        fmt::format("ModelBuilder: a name must be UTF-8 text without control characters, and not "
                    "empty, got '{}'",
                    printable(name)));
  }
  if (std::any_of(known.begin(), known.end(), [&](const Named& k) { return k.name == name; })) {
    throw PreconditionError("ModelBuilder: there are two '" + name + "'");
  }
}

}  // namespace

Eigen::Index DataArray::num_values() const { return detail::volume_of(shape); }

Eigen::Index Model::num_parameters() const {
  return parameters.empty() ? 0 : parameters.back().offset + parameters.back().size;
}

Eigen::Index Model::record_size() const {
  return arrays.empty() ? 0 : arrays.back().offset + arrays.back().width;
}

ModelBuilder::ModelBuilder(std::string kind) : graph_(std::make_shared<Graph>()) {
  if (kind.empty() || !is_printable_utf8(kind)) {
    throw PreconditionError(
        fmt::format("ModelBuilder: the kind of a model must be UTF-8 text, and not empty, got '{}'",
                    printable(kind)));
  }
  model_.kind = std::move(kind);
}

Graph& ModelBuilder::graph() {
  if (graph_ == nullptr) {
    throw PreconditionError("ModelBuilder: finish() was called, or the builder was moved from");
  }
  return *graph_;
}

Eigen::Index ModelBuilder::add_block(const std::string& name,
                                     const std::vector<std::int64_t>& shape) {
  graph();  // must be there
  require_extents(name, shape);
  require_new(name, model_.parameters);
  const Eigen::Index offset = model_.num_parameters();
  model_.parameters.push_back({name, shape, offset, detail::volume_of(shape)});
  return offset;
}

Var ModelBuilder::parameter(const std::string& name, const std::vector<std::int64_t>& shape) {
  const Eigen::Index offset = add_block(name, shape);
  const auto [rows, cols] = matrix_of(shape);
  return graph().parameter(offset, rows, cols);
}

std::vector<Var> ModelBuilder::parameter_stack(const std::string& name,
                                               std::int64_t count,
                                               std::int64_t rows,
                                               std::int64_t cols) {
  const Eigen::Index offset = add_block(name, {count, rows, cols});
  std::vector<Var> matrices;
  for (std::int64_t i = 0; i < count; ++i) {
    matrices.push_back(graph().parameter(offset + i * rows * cols, rows, cols));
  }
  return matrices;
}

DataArray& ModelBuilder::add_array(DataArray array, Eigen::Index width) {
  graph();  // must be there
  require_new(array.name, model_.arrays);
  array.offset = model_.record_size();
  array.width = width;
  return model_.arrays.emplace_back(std::move(array));
}

Var ModelBuilder::array(const std::string& name,
                        const std::vector<std::int64_t>& shape,
                        DataArray::Content content) {
  if (content == DataArray::Content::kClass || content == DataArray::Content::kInteger) {
    throw PreconditionError("ModelBuilder: '" + name + "' is for one_hot() or integers()");
  }
  require_extents(name, shape);
  const auto [rows, cols] = matrix_of(shape);
  const auto known = std::ranges::find_if(model_.arrays, [&](const DataArray& each) {
    return each.name == name && each.shape == shape && each.content == content;
  });
  if (known != model_.arrays.end()) return graph().input(known->offset, rows, cols);
  const DataArray& added =
      add_array({.name = name, .shape = shape, .content = content}, detail::volume_of(shape));
  return graph().input(added.offset, rows, cols);
}

Var ModelBuilder::one_hot(const std::string& name, std::int64_t num_classes) {
  require_extents(name, {num_classes});
  const DataArray& added =
      add_array({.name = name, .shape = {}, .content = DataArray::Content::kClass}, num_classes);
  return graph().input(added.offset, num_classes, 1);
}

Var ModelBuilder::one_hot(const std::string& name,
                          const std::vector<std::int64_t>& shape,
                          std::int64_t num_classes) {
  require_extents(name, shape);
  const Eigen::Index count = detail::volume_of(shape);
  require_extents(name, {count, num_classes});
  const DataArray& added = add_array(
      {.name = name, .shape = shape, .content = DataArray::Content::kClass}, count * num_classes);
  return graph().input(added.offset, count, num_classes);
}

Var ModelBuilder::integers(const std::string& name,
                           const std::vector<std::int64_t>& shape,
                           std::int64_t minimum,
                           std::int64_t maximum,
                           const std::string& reason) {
  require_extents(name, shape);
  if (minimum > maximum) {
    throw PreconditionError(fmt::format(
        "ModelBuilder: there is no whole number from {} to {} for '{}'", minimum, maximum, name));
  }
  const DataArray& added = add_array({.name = name,
                                      .shape = shape,
                                      .content = DataArray::Content::kInteger,
                                      .minimum = minimum,
                                      .maximum = maximum,
                                      .reason = reason},
                                     detail::volume_of(shape));
  const auto [rows, cols] = matrix_of(shape);
  return graph().input(added.offset, rows, cols);
}

void ModelBuilder::set_sample_weight(
    const std::string& array, std::function<double(std::span<const double> entries)> weight) {
  graph();  // must be there
  const auto found = std::ranges::find(model_.arrays, array, &DataArray::name);
  if (found == model_.arrays.end()) {
    throw PreconditionError("ModelBuilder: there is no array '" + printable(array) + "'");
  }
  model_.sample_weight = [first = static_cast<std::size_t>(found->offset),
                          count = static_cast<std::size_t>(found->width),
                          weight = std::move(weight)](std::span<const double> record) {
    return weight(record.subspan(first, count));
  };
}

Model ModelBuilder::finish(Var loss) {
  graph().set_output(loss);
  graph().finish();
  model_.graph = std::move(graph_);
  return std::move(model_);
}

}  // namespace hesscope
