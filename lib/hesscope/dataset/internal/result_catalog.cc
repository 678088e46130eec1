// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/dataset/internal/flag_meanings.h>
#include <hesscope/dataset/internal/result_catalog.h>

namespace hesscope::io {

std::string path_of(const std::string& group, const std::string& name) {
  return group.empty() ? "/" + name : fmt::format("/{}/{}", group, name);
}

void ResultCatalog::require_free(const std::string& path, const netcdf::Place& where) const {
  std::string_view holder;
  if (groups_.contains(path.substr(1))) holder = "group";
  if (dimension_at_.contains(path)) holder = "dimension";
  if (variable_at_.contains(path)) holder = "variable";
  if (!holder.empty()) {
    throw OutputError(fmt::format("{}: the name is taken by a {}", where.text(), holder));
  }
}

void ResultCatalog::add(StoredDimension dimension) {
  dimension_at_.emplace(path_of(dimension.group, dimension.name), dimensions_.size());
  dimensions_.push_back(std::move(dimension));
}

void ResultCatalog::add(StoredVariable variable) {
  variable_at_.emplace(variable.path, variables_.size());
  variables_.push_back(std::move(variable));
}

std::size_t ResultCatalog::find_dimension(const std::string& group,
                                          const std::string& name,
                                          const netcdf::Place& where) const {
  for (const std::string& path : {path_of(group, name), path_of("", name)}) {
    const auto found = dimension_at_.find(path);
    if (found != dimension_at_.end()) return found->second;
  }
  std::vector<std::string> known;
  for (const StoredDimension& dimension : dimensions_) {
    if (dimension.group.empty() || dimension.group == group) known.push_back(dimension.name);
  }
  throw OutputError(fmt::format("{}: there is no dimension '{}' in its group or in the root{}",
                                where.text(),
                                name,
                                did_you_mean(name, known)));
}

const StoredVariable& ResultCatalog::find_variable(const std::string& group,
                                                   const std::string& name,
                                                   const std::filesystem::path& file) const {
  const auto found = variable_at_.find(path_of(group, name));
  if (found == variable_at_.end()) {
    throw OutputError(fmt::format(
        "{}: it has not been defined",
        netcdf::Place{file, fmt::format("variable '{}'", path_of(group, name))}.text()));
  }
  return variables_[found->second];
}

StoredVariable ResultCatalog::plan(const std::string& group,
                                   const Variable& spec,
                                   const netcdf::Place& where) const {
  const std::string path = path_of(group, spec.name);
  StoredVariable variable;
  variable.path = path;
  variable.type = spec.type;
  hsize_t bytes = netcdf::stored_size(spec.type);
  for (const std::string& name : spec.dimensions) {
    const std::size_t dimension = find_dimension(group, name, where);
    const hsize_t size = dimensions_[dimension].size;
    if (size != 0 && bytes > std::numeric_limits<std::int64_t>::max() / size) {
      throw OutputError(fmt::format("{}: too large: more than 2^63 bytes", where.text()));
    }
    bytes *= size;
    variable.dimensions.push_back(dimension);
    variable.shape.push_back(size);
  }
  const auto own = dimension_at_.find(path);
  variable.is_coordinate = own != dimension_at_.end();
  if (variable.is_coordinate && variable.dimensions != std::vector{own->second}) {
    throw OutputError(
        fmt::format("{}: a variable named as a dimension must have that one dimension, has ({})",
                    where.text(),
                    fmt::join(spec.dimensions, ", ")));
  }
  if (variable_at_.contains(path) || !variable.is_coordinate) require_free(path, where);
  if (!spec.flag_meanings.empty() &&
      (spec.type != VariableType::kInt8 || spec.flag_meanings.size() > 128)) {
    throw OutputError(fmt::format(
        "{}: flag_meanings are for int8 variables, 128 at most; this one is {} and has {}",
        where.text(),
        to_string(spec.type),
        spec.flag_meanings.size()));
  }
  if (const std::string problem = detail::problem_of_meanings(spec); !problem.empty()) {
    throw OutputError(fmt::format("{}: {}", where.text(), problem));
  }
  return variable;
}

}  // namespace hesscope::io
