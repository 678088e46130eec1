// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>
#include <numeric>
#include <variant>

#include <fmt/format.h>

#include <hesscope/analysis/internal/quantity_file.h>
#include <hesscope/core/error.h>

namespace hesscope::detail {

QuantityFile::QuantityFile(const std::filesystem::path& output, io::Existing existing)
    : file_(output, {.existing = existing}) {}

void QuantityFile::define_dimensions(const std::string& group,
                                     const std::vector<Dimension>& dimensions) {
  for (const Dimension& dimension : dimensions) {
    const std::optional<Variable> coordinate = file_.define_dimension(group, dimension);
    if (coordinate) file_.write(group, *coordinate);
  }
}

void QuantityFile::add_coordinate(const std::string& group, const Variable& variable) {
  file_.define_variable(group, variable);
  file_.write(group, variable);
  name_coordinate(group, variable.dimensions.front(), variable.name);
}

void QuantityFile::name_coordinate(const std::string& group,
                                   const std::string& dimension,
                                   const std::string& variable) {
  // A variable with the name of its dimension is its coordinate automatically.
  if (variable != dimension) coordinates_[{group, dimension}].push_back(variable);
}

void QuantityFile::define(const std::string& group, Variable variable) {
  for (const std::string& dimension : variable.dimensions) {
    for (const std::string& name : coordinates_[{group, dimension}]) {
      if (name != variable.name) variable.coordinates.push_back(name);
    }
  }
  file_.define_variable(group, variable);
}

void QuantityFile::define(const std::string& group,
                          const Variable& quantity,
                          const std::vector<std::string>& dimensions,
                          std::size_t num_status_dimensions) {
  Variable variable = quantity;
  variable.dimensions = dimensions;
  define(group, variable);
  if (quantity.type == VariableType::kInt8) return;
  const std::vector<std::uint64_t> shape = file_.shape_of(group, quantity.name);
  const auto end = shape.begin() + static_cast<std::ptrdiff_t>(num_status_dimensions);
  const std::uint64_t count =
      std::accumulate(shape.begin(), end, std::uint64_t{1}, std::multiplies<>());
  const Place place(group, quantity.name);
  order_.push_back(place);
  statuses_[place] = {
      {dimensions.begin(), dimensions.begin() + static_cast<std::ptrdiff_t>(num_status_dimensions)},
      std::vector<std::int8_t>(count, static_cast<std::int8_t>(Status::kNotComputed))};
}

void QuantityFile::set_statuses(const Place& place,
                                std::optional<std::size_t> index,
                                const std::vector<Status>& statuses) {
  std::vector<std::int8_t>& codes = statuses_.at(place).values;
  const auto code_of = [](Status status) { return static_cast<std::int8_t>(status); };
  if (index) {
    codes.at(*index) = code_of(statuses.front());
  } else if (statuses.size() == 1) {
    std::fill(codes.begin(), codes.end(), code_of(statuses.front()));
  } else if (statuses.size() == codes.size()) {
    std::ranges::transform(statuses, codes.begin(), code_of);
  } else {
    throw PreconditionError(fmt::format("{}{}{} has {} statuses, and the file one for each of {}",
                                        place.first,
                                        place.first.empty() ? "" : "/",
                                        place.second,
                                        statuses.size(),
                                        codes.size()));
  }
}

void QuantityFile::write(const std::string& group,
                         const Group& answer,
                         std::optional<std::size_t> index) {
  std::vector<const Variable*> said;
  for (const Variable& variable : answer.variables) {
    if (variable.is_said()) said.push_back(&variable);
  }
  // By name, not in the order of declaration: the order of writing decides where bytes are in the
  // file.
  std::ranges::sort(said, {}, [](const Variable* variable) { return variable->name; });
  for (const Variable* variable : said) write(group, *variable, index);
}

void QuantityFile::write(const std::string& group,
                         const Variable& variable,
                         std::optional<std::size_t> index) {
  const bool has_values = std::visit([](const auto& all) { return !all.empty(); }, variable.values);
  if (has_values && index) {
    file_.write_slice(group, variable, *index);
  } else if (has_values) {
    file_.write(group, variable);
  }
  if (variable.type != VariableType::kInt8) {
    set_statuses({group, variable.name}, index, variable.statuses);
  }
  if (!variable.is_proved) unproved_.add(group, variable.name, index);
}

void QuantityFile::commit() {
  constexpr auto kOk = static_cast<std::int8_t>(Status::kOk);
  for (const Place& place : order_) {
    const auto& [group, name] = place;
    const Statuses& statuses = statuses_.at(place);
    const auto is_ok = [](std::int8_t value) { return value == kOk; };
    if (std::all_of(statuses.values.begin(), statuses.values.end(), is_ok)) continue;
    file_.set_variable_attribute(group, name, {"ancillary_variables", status_name(name)});
    const Variable variable = {.name = status_name(name),
                               .type = VariableType::kInt8,
                               .dimensions = statuses.dimensions,
                               .long_name = "status of " + name,
                               .definition = "why " + name + " is, or is not, there",
                               .flag_meanings = {kStatusMeanings.begin(), kStatusMeanings.end()},
                               .values = statuses.values};
    define(group, variable);
    file_.write(group, variable);
  }
  if (!unproved_.is_empty()) {
    file_.set_attribute("", {UnprovedNumbers::kAttribute, unproved_.text()});
  }
  file_.commit();
}

}  // namespace hesscope::detail
