// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <variant>

#include <hesscope/analysis/internal/quantity_file.h>

namespace hesscope::detail {
namespace {

constexpr std::int64_t kMissingCount = -9223372036854775806;  // NC_FILL_INT64

io::VariableType variable_type(const Quantity& quantity) {
  return quantity.type == Quantity::Type::kFlag    ? io::VariableType::kInt8
         : quantity.type == Quantity::Type::kCount ? io::VariableType::kInt64
                                                   : io::VariableType::kDouble;
}

}  // namespace

std::string status_name(const std::string& name) { return name + "_status"; }

QuantityFile::QuantityFile(const std::filesystem::path& output, bool overwrite)
    : file_(output, {.overwrite = overwrite}) {}

void QuantityFile::define_dimensions(const std::string& group,
                                     const std::vector<Analyzer::Dimension>& dimensions) {
  for (const Analyzer::Dimension& dimension : dimensions) {
    file_.define_dimension(group, dimension.name, static_cast<std::uint64_t>(dimension.size));
    const bool has_labels = !dimension.labels.empty();
    if (!has_labels && dimension.numbers.empty()) continue;
    file_.define_variable(group,
                          {.name = dimension.name,
                           .type = has_labels ? io::VariableType::kText : io::VariableType::kInt64,
                           .dimensions = {dimension.name},
                           .long_name = (has_labels ? "names" : "numbers") +
                                        (" along the dimension " + dimension.name),
                           .definition = dimension.definition});
    if (has_labels) {
      file_.write(group, dimension.name, dimension.labels);
    } else {
      file_.write(group, dimension.name, dimension.numbers);
    }
  }
}

void QuantityFile::add_coordinate(const std::string& group,
                                  const io::VariableSpec& spec,
                                  const io::VariableValues& values) {
  file_.define_variable(group, spec);
  file_.write(group, spec.name, values);
  name_coordinate(group, spec.dimensions.front(), spec.name);
}

void QuantityFile::name_coordinate(const std::string& group,
                                   const std::string& dimension,
                                   const std::string& variable) {
  // A variable named as its dimension is its coordinate without a word.
  if (variable != dimension) coordinates_[{group, dimension}].push_back(variable);
}

void QuantityFile::define(const std::string& group, io::VariableSpec spec) {
  for (const std::string& dimension : spec.dimensions) {
    for (const std::string& name : coordinates_[{group, dimension}]) {
      if (name != spec.name) spec.coordinates.push_back(name);
    }
  }
  file_.define_variable(group, spec);
}

void QuantityFile::define(const std::string& group,
                          const Quantity& quantity,
                          const std::vector<std::string>& dimensions,
                          std::size_t num_status_dimensions) {
  define(group,
         {.name = quantity.name,
          .type = variable_type(quantity),
          .dimensions = dimensions,
          .long_name = quantity.long_name,
          .units = quantity.units,
          .definition = quantity.definition,
          .flag_meanings = quantity.flags});
  if (quantity.type == Quantity::Type::kFlag) return;
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

void QuantityFile::set_status(const Place& place, std::optional<std::size_t> index, Status status) {
  std::vector<std::int8_t>& values = statuses_.at(place).values;
  const auto value = static_cast<std::int8_t>(status);
  if (index) {
    values.at(*index) = value;
  } else {
    std::fill(values.begin(), values.end(), value);
  }
}

void QuantityFile::write(const std::string& group,
                         const Record& record,
                         std::optional<std::size_t> index) {
  const auto write_values = [&](const std::string& name, const auto values) {
    if (index) {
      file_.write_slice(group, name, *index, values);
    } else {
      file_.write(group, name, values);
    }
  };
  for (const auto& [name, entry] : record.entries()) {
    if (const auto* real = std::get_if<Record::Real>(&entry)) {
      if (!real->values.empty()) write_values(name, std::span<const double>(real->values));
      set_status({group, name}, index, real->status);
    } else if (const auto* count = std::get_if<std::int64_t>(&entry)) {
      write_values(name, std::span<const std::int64_t>(count, 1));
      set_status({group, name}, index, Status::kOk);
    } else if (const auto* flag = std::get_if<std::int8_t>(&entry)) {
      write_values(name, std::span<const std::int8_t>(flag, 1));
    }
  }
}

void QuantityFile::write(const std::string& group,
                         const Quantity& quantity,
                         const std::vector<double>& values,
                         const std::vector<Status>& statuses) {
  if (quantity.type == Quantity::Type::kCount) {
    std::vector<std::int64_t> counts;
    for (const double value : values) {
      counts.push_back(std::isnan(value) ? kMissingCount : static_cast<std::int64_t>(value));
    }
    file_.write(group, quantity.name, counts);
  } else {
    file_.write(group, quantity.name, values);
  }
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    set_status({group, quantity.name}, i, statuses[i]);
  }
}

void QuantityFile::commit() {
  constexpr auto kOk = static_cast<std::int8_t>(Status::kOk);
  for (const Place& place : order_) {
    const auto& [group, name] = place;
    const Statuses& statuses = statuses_.at(place);
    const auto is_ok = [](std::int8_t value) { return value == kOk; };
    if (std::all_of(statuses.values.begin(), statuses.values.end(), is_ok)) continue;
    file_.set_variable_attribute(group, name, {"ancillary_variables", status_name(name)});
    define(group,
           {.name = status_name(name),
            .type = io::VariableType::kInt8,
            .dimensions = statuses.dimensions,
            .long_name = "status of " + name,
            .definition = "why " + name + " is, or is not, there",
            .flag_meanings = {kStatusMeanings.begin(), kStatusMeanings.end()}});
    file_.write(group, status_name(name), statuses.values);
  }
  file_.commit();
}

}  // namespace hesscope::detail
