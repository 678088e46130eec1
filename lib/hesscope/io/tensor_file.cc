// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/io/tensor_file.h>

namespace hesscope::io {
namespace {

struct TypeProperties {
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array<TypeProperties, 13> kTypeProperties = {{
    {"bool", 1},
    {"int8", 1},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"uint8", 1},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"float16", 2},
    {"bfloat16", 2},
    {"float32", 4},
    {"float64", 8},
}};

const TypeProperties& properties(ElementType type) {
  return kTypeProperties.at(static_cast<std::size_t>(type));
}

}  // namespace

std::string_view to_string(ElementType type) { return properties(type).name; }

std::size_t size_of(ElementType type) { return properties(type).bytes; }

std::int64_t TensorInfo::num_elements() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

TensorFile::TensorFile(std::filesystem::path path,
                       std::string_view format,
                       std::unique_ptr<TensorSource> source)
    : path_(std::move(path)), format_(format), source_(std::move(source)) {
  if (source_ == nullptr) throw PreconditionError("TensorFile: source must not be null");
}

const TensorInfo* TensorFile::find(std::string_view name) const {
  const auto all = tensors();
  const auto found = std::ranges::find(all, name, &TensorInfo::name);
  return found == all.end() ? nullptr : &*found;
}

std::vector<double> TensorFile::read(std::string_view name) const {
  const auto all = tensors();
  if (const TensorInfo* const found = find(name)) {
    return source_->read(static_cast<std::size_t>(found - all.data()));
  }
  constexpr std::size_t kMaxListed = 20;
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const TensorInfo& tensor : all) names.push_back(tensor.name);
  const std::string suggestion = did_you_mean(name, names);
  const std::size_t num_left_out = names.size() - std::min(names.size(), kMaxListed);
  names.resize(names.size() - num_left_out);
  throw InputError(
      fmt::format("{}: there is no tensor '{}'{}; the file holds {}{}",
                  path_.string(),
                  name,
                  suggestion,
                  names.empty() ? "no tensors" : fmt::format("{}", fmt::join(names, ", ")),
                  num_left_out > 0 ? fmt::format(" and {} more", num_left_out) : ""));
}

}  // namespace hesscope::io
