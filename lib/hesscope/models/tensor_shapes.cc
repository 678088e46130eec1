// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/shape.h>
#include <hesscope/core/suggest.h>
#include <hesscope/models/tensor_copies.h>
#include <hesscope/models/tensor_shapes.h>

namespace hesscope {
namespace {

std::vector<std::string> names_of(const TensorShapes& file) {
  std::vector<std::string> names;
  for (const auto& [name, shape] : file.shapes) names.push_back(name);
  return names;
}

void require_shape(const TensorShapes& checkpoint,
                   const std::string& name,
                   const std::vector<std::int64_t>& expected) {
  const auto& found = checkpoint.at(name);
  if (found == expected) return;
  throw InputError(fmt::format("{}: tensor '{}': expected shape {}, found {}",
                               checkpoint.source,
                               name,
                               shape_text(expected),
                               shape_text(found)));
}

}  // namespace

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
                    shape_text(shape)));
  }
  return shape;
}

bool may_be_ignored(const TensorShapes& checkpoint, const std::string& name) {
  if (checkpoint.training_numbers.contains(name)) return true;
  constexpr std::string_view kCount = "num_batches_tracked";
  const std::size_t dot = name.rfind('.');
  return name.substr(dot == std::string::npos ? 0 : dot + 1) == kCount &&
         checkpoint.has_integers(name);
}

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
    if (known.contains(name) || may_be_ignored(checkpoint, name)) continue;
    throw InputError(fmt::format(
        "{}: tensor '{}' of shape {} is no parameter of the {} model described; "
        "check the number of layers and the kind in the problem file, or let a map ignore "
        "it (`map`, ignore = [...])",
        checkpoint.source,
        name,
        shape_text(shape),
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
    // A trailing dimension of one is optional: (samples,) stands for (samples, 1).
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
                                   shape_text(found)));
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
