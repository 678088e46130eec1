// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/dataset/dataset.h>

namespace hesscope {

std::string_view to_string(VariableType type) {
  switch (type) {
    case VariableType::kDouble:
      return "float64";
    case VariableType::kInt64:
      return "int64";
    case VariableType::kInt8:
      return "int8";
    case VariableType::kText:
      return "text";
    case VariableType::kOther:
      break;
  }
  return "other";
}

namespace {

template <typename T>
double as_number(T value) {
  return static_cast<double>(value);
}

double as_number(std::int64_t count) {
  return count == kMissingCount ? kNaN : static_cast<double>(count);
}

template <typename Variables>
auto* find_in(Variables& variables, std::string_view name) {
  const auto found = std::ranges::find(variables, name, &Variable::name);
  return found == variables.end() ? nullptr : &*found;
}

[[noreturn]] void refuse_name(const Group& group, std::string_view name) {
  std::vector<std::string> names;
  for (const Variable& variable : group.variables) names.push_back(variable.name);
  throw PreconditionError(fmt::format(
      "Group '{}': there is no variable '{}'{}", group.name, name, did_you_mean(name, names)));
}

void set_array(Variable& variable, const double* first, Eigen::Index size) {
  const Eigen::Map<const Eigen::VectorXd> values(first, size);
  variable.values = std::vector<double>(first, first + size);
  variable.statuses = {values.allFinite() ? Status::kOk : Status::kNonFinite};
}

}  // namespace

std::string status_name(std::string_view name) { return std::string(name) + "_status"; }

double Variable::number() const {
  return std::visit(
      [](const auto& all) {
        if constexpr (std::is_same_v<std::decay_t<decltype(all)>, std::vector<std::string>>) {
          return kNaN;
        } else {
          return all.empty() ? kNaN : as_number(all.front());
        }
      },
      values);
}

std::vector<double> Variable::numbers() const {
  if (const auto* reals = std::get_if<std::vector<double>>(&values)) return *reals;
  std::vector<double> all;
  if (const auto* counts = std::get_if<std::vector<std::int64_t>>(&values)) {
    for (const std::int64_t count : *counts) all.push_back(as_number(count));
  } else if (const auto* flags = std::get_if<std::vector<std::int8_t>>(&values)) {
    all.assign(flags->begin(), flags->end());
  }
  return all;
}

std::vector<double> Variable::row(std::size_t index) const {
  if (shape.empty() || index >= shape[0]) {
    throw PreconditionError(fmt::format("Variable '{}': there is no row {}", name, index));
  }
  const auto length = static_cast<std::ptrdiff_t>(reals().size() / shape[0]);
  const auto first = reals().begin() + static_cast<std::ptrdiff_t>(index) * length;
  return {first, first + length};
}

Status Variable::worst_status() const {
  const auto found = std::ranges::find_if(
      statuses, [](Status each) { return each != Status::kNotComputed && !is_conclusive(each); });
  return found == statuses.end() ? status() : *found;
}

void Variable::set(double value) {
  set(value, std::isfinite(value) ? Status::kOk : Status::kNonFinite);
}

void Variable::set(double value, Status status) {
  values = std::vector<double>{status == Status::kOk ? value : kNaN};
  statuses = {status};
}

void Variable::set(const Eigen::Ref<const Eigen::VectorXd>& all) {
  set_array(*this, all.data(), all.size());
}

void Variable::set_rows(const Eigen::MatrixXd& all) {
  set_rows(all, all.allFinite() ? Status::kOk : Status::kNonFinite);
}

void Variable::set_rows(const Eigen::MatrixXd& all, Status status) {
  const Eigen::MatrixXd rows = all.transpose();
  values = std::vector<double>(rows.data(), rows.data() + rows.size());
  statuses = {status};
}

void Variable::set_symmetric(const Eigen::MatrixXd& all) {
  set_array(*this, all.data(), all.size());
}

void Variable::set_numbers(std::vector<double> all, std::vector<Status> reasons) {
  statuses = std::move(reasons);
  if (type != VariableType::kInt64) {
    values = std::move(all);
    return;
  }
  constexpr double kMost = 0x1p63;
  std::vector<std::int64_t> counts;
  for (const double value : all) {
    if (value >= kMost || value < -kMost) {
      throw PreconditionError(
          fmt::format("'{}' holds counts, which {} is too large for", name, value));
    }
    counts.push_back(std::isnan(value) ? kMissingCount : static_cast<std::int64_t>(value));
  }
  values = std::move(counts);
}

void Variable::set_count(std::int64_t value) {
  values = std::vector<std::int64_t>{value};
  statuses = {Status::kOk};
}

void Variable::set_flag(std::int8_t value) { set_flags({value}); }

void Variable::set_flags(std::vector<std::int8_t> all) {
  values = std::move(all);
  statuses = {Status::kOk};
}

void Variable::set_missing(Status status) {
  values = {};
  statuses = {status};
}

std::optional<Variable> coordinate_of(const Dimension& dimension) {
  const bool has_labels = !dimension.labels.empty();
  if (!has_labels && dimension.numbers.empty()) return std::nullopt;
  const std::string otherwise =
      (has_labels ? "names" : "numbers") + (" along the dimension " + dimension.name);
  return Variable{.name = dimension.name,
                  .type = has_labels ? VariableType::kText : VariableType::kInt64,
                  .dimensions = {dimension.name},
                  .long_name = dimension.long_name.empty() ? otherwise : dimension.long_name,
                  .definition = dimension.definition,
                  .values = has_labels ? Values(dimension.labels) : Values(dimension.numbers)};
}

VariableId Group::add(Variable variable) {
  if (find(variable.name) != nullptr) {
    throw PreconditionError(
        fmt::format("Group '{}': there is a variable '{}' already", name, variable.name));
  }
  variables.push_back(std::move(variable));
  return static_cast<VariableId>(variables.size() - 1);
}

Variable& Group::operator[](std::string_view variable) {
  if (Variable* const found = find(variable)) return *found;
  refuse_name(*this, variable);
}

const Variable& Group::operator[](std::string_view variable) const {
  if (const Variable* const found = find(variable)) return *found;
  refuse_name(*this, variable);
}

Variable* Group::find(std::string_view variable) { return find_in(variables, variable); }

const Variable* Group::find(std::string_view variable) const {
  return find_in(variables, variable);
}

const AttributeValue* Group::find_attribute(std::string_view attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &Attribute::name);
  return found == attributes.end() ? nullptr : &found->value;
}

void Group::set_rest_missing(Status status) {
  for (Variable& variable : variables) {
    if (variable.type != VariableType::kInt8 && !variable.is_said()) variable.set_missing(status);
  }
}

void Group::take(const Group& other) {
  for (const Variable& variable : other.variables) {
    if (!variable.is_said()) continue;
    Variable& ours = (*this)[variable.name];
    ours.values = variable.values;
    ours.statuses = variable.statuses;
    ours.is_proved = variable.is_proved;
  }
}

void Group::append(const Group& other) {
  for (const Variable& variable : other.variables) {
    Variable& ours = (*this)[variable.name];
    std::visit(
        [&]<typename T>(const std::vector<T>& more) {
          auto& all = std::get<std::vector<T>>(ours.values);
          all.insert(all.end(), more.begin(), more.end());
        },
        variable.values);
    ours.statuses.insert(ours.statuses.end(), variable.statuses.begin(), variable.statuses.end());
  }
}

}  // namespace hesscope
