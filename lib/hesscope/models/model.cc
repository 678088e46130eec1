// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>
#include <hesscope/models/model.h>
#include <hesscope/models/tensor_copies.h>

namespace hesscope {
namespace {

std::string text(const std::vector<std::int64_t>& shape) {
  return shape.size() == 1 ? fmt::format("({},)", shape[0])
                           : fmt::format("({})", fmt::join(shape, ", "));
}

Eigen::Index volume(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), Eigen::Index{1}, std::multiplies<>());
}

// A size that no product of extents is known to overflow.
void require_extents(const std::string& name, const std::vector<std::int64_t>& shape) {
  constexpr std::int64_t kMaxEntries = std::int64_t{1} << 53;
  bool is_fine = shape.size() <= ModelBuilder::kMaxRank;
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) {
    is_fine = is_fine && extent >= 1 && extent <= kMaxEntries / size;
    if (is_fine) size *= extent;
  }
  if (!is_fine) {
    throw PreconditionError(fmt::format("ModelBuilder: bad shape {} for '{}'", text(shape), name));
  }
}

// Rows and columns of what is recorded as a matrix.
std::pair<Eigen::Index, Eigen::Index> matrix_of(const std::vector<std::int64_t>& shape) {
  if (shape.size() < 2) return {shape.empty() ? 1 : shape[0], 1};
  return {volume(shape) / shape.back(), shape.back()};
}

// Names are what a checkpoint or a data file is searched for.
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

std::vector<std::string> names_of(const TensorShapes& file) {
  std::vector<std::string> names;
  for (const auto& [name, shape] : file.shapes) names.push_back(name);
  return names;
}

}  // namespace

Eigen::Index DataArray::num_values() const { return volume(shape); }

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
  model_.parameters.push_back({name, shape, offset, volume(shape)});
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
  const DataArray& added =
      add_array({.name = name, .shape = shape, .content = content}, volume(shape));
  const auto [rows, cols] = matrix_of(shape);
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
  const Eigen::Index count = volume(shape);
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
                                     volume(shape));
  const auto [rows, cols] = matrix_of(shape);
  return graph().input(added.offset, rows, cols);
}

Model ModelBuilder::finish(Var loss) {
  graph().set_output(loss);
  graph().finish();
  model_.graph = std::move(graph_);
  return std::move(model_);
}

SettingKey weight_decay_key() {
  return {.name = "weight_decay",
          .type = SettingKey::Type::kReal,
          .meaning = "w of a term w/2 |theta|^2 in the loss",
          .range = RealRange(),
          .is_optional = true};
}

double weight_decay_from(const Settings& settings) {
  const std::string name = weight_decay_key().name;
  return settings.has(name) ? settings.real(name) : 0;
}

bool TensorShapes::has(const std::string& name) const {
  return shapes.contains(name) || unreadable.contains(name);
}

bool TensorShapes::has_integers(const std::string& name) const {
  const auto type = types.find(name);
  return type != types.end() && type->second >= io::ElementType::kInt8 &&
         type->second <= io::ElementType::kUInt64;
}

const std::vector<std::int64_t>& TensorShapes::at(const std::string& name) const {
  const auto found = shapes.find(name);
  if (found != shapes.end()) return found->second;
  if (const auto odd = unreadable.find(name); odd != unreadable.end()) {
    throw InputError(fmt::format(
        "{}: tensor '{}': {}; real numbers in an array are expected", source, name, odd->second));
  }
  const std::vector<std::string> names = names_of(*this);
  throw InputError(fmt::format("{}: no tensor '{}'{}; the file holds {}",
                               source,
                               name,
                               did_you_mean(name, names),
                               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

const std::vector<std::int64_t>& TensorShapes::at(const std::string& name,
                                                  std::size_t rank,
                                                  const std::string& pattern) const {
  const auto& shape = at(name);
  const bool positive = std::all_of(shape.begin(), shape.end(), [](auto e) { return e >= 1; });
  if (shape.size() != rank || !positive) {
    throw InputError(
        fmt::format("{}: tensor '{}': expected shape {} with no empty dimension, found {}",
                    source,
                    name,
                    pattern,
                    text(shape)));
  }
  return shape;
}

bool is_batch_count(const TensorShapes& checkpoint, const std::string& name) {
  constexpr std::string_view kCount = "num_batches_tracked";
  const std::size_t dot = name.rfind('.');
  return name.substr(dot == std::string::npos ? 0 : dot + 1) == kCount &&
         checkpoint.has_integers(name);
}

namespace {

void require_shape(const TensorShapes& checkpoint,
                   const std::string& name,
                   const std::vector<std::int64_t>& expected) {
  const auto& found = checkpoint.at(name);
  if (found == expected) return;
  throw InputError(fmt::format("{}: tensor '{}': expected shape {}, found {}",
                               checkpoint.source,
                               name,
                               text(expected),
                               text(found)));
}

}  // namespace

void require_parameters(const Model& model, const TensorShapes& checkpoint) {
  std::set<std::string> known;
  for (const ParameterBlock& block : model.parameters) {
    require_shape(checkpoint, block.name, block.shape);
    known.insert(block.name);
  }
  for (const ModelBuffer& buffer : model.buffers) {
    if (checkpoint.has(buffer.name)) require_shape(checkpoint, buffer.name, buffer.shape);
    known.insert(buffer.name);
  }
  require_ties_hold(model.ties, checkpoint);
  for (const auto& [name, shape] : checkpoint.shapes) {
    if (known.contains(name) || is_batch_count(checkpoint, name)) continue;
    throw InputError(fmt::format(
        "{}: tensor '{}' of shape {} is no parameter of the {} model described; "
        "check the number of layers and the kind in the problem file, or let a map ignore "
        "it (`map`, ignore = [...])",
        checkpoint.source,
        name,
        text(shape),
        model.kind));
  }
}

std::int64_t require_arrays(const Model& model, const TensorShapes& data) {
  if (model.arrays.empty()) return 1;
  std::int64_t samples = -1;
  for (const DataArray& array : model.arrays) {
    const auto& found = data.at(array.name);
    std::vector<std::int64_t> expected = {found.empty() ? 0 : found[0]};
    expected.insert(expected.end(), array.shape.begin(), array.shape.end());
    // A trailing dimension of one may be left out: (samples,) stands for (samples, 1).
    std::vector<std::int64_t> given = found;
    while (given.size() > 1 && given.back() == 1) given.pop_back();
    std::vector<std::int64_t> wanted = expected;
    while (wanted.size() > 1 && wanted.back() == 1) wanted.pop_back();
    if (found.empty() || given != wanted) {
      throw InputError(fmt::format("{}: array '{}': expected shape (samples{}{}), found {}",
                                   data.source,
                                   array.name,
                                   array.shape.empty() ? "," : ", ",
                                   fmt::join(array.shape, ", "),
                                   text(found)));
    }
    if (found[0] < 1) {
      throw InputError(fmt::format("{}: array '{}' has no samples", data.source, array.name));
    }
    if (samples >= 0 && found[0] != samples) {
      throw InputError(fmt::format("{}: array '{}' has {} samples, but '{}' has {}",
                                   data.source,
                                   array.name,
                                   found[0],
                                   model.arrays.front().name,
                                   samples));
    }
    samples = found[0];
  }
  return samples;
}

}  // namespace hesscope
