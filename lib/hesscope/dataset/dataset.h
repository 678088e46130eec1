// SPDX-License-Identifier: BSD-3-Clause
//
// The elements of every result: named arrays with dimensions, a meaning, and the reason why each
// value is present or missing. An analyzer returns a Group; surfaces, histories and the data of
// figures are Groups; the contents of a file are listed as Groups.
//
//   Group answer{.name = "condition"};
//   const VariableId classical = answer.add(
//       {.name = "classical", .long_name = "condition number", .definition = "max / min"});
//   answer[classical].set(largest / smallest);
//   answer.set_rest_missing(Status::kNotComputed);  // everything that is still unset
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/core/status.h>
#include <hesscope/statistics/statistic.h>

namespace hesscope {

using AttributeValue = std::variant<std::string,
                                    double,
                                    std::int64_t,
                                    std::int8_t,
                                    std::vector<double>,
                                    std::vector<std::int8_t>>;

struct Attribute {
  std::string name;
  AttributeValue value;
};

/// A dimension, with the labels or numbers along it, if there are any.
struct Dimension {
  std::string name;
  std::int64_t size = 0;
  std::vector<std::string> labels = {};
  std::vector<std::int64_t> numbers = {};
  std::string long_name = {};  ///< of labels or numbers; if empty: "names along the dimension NAME"
  std::string definition = {};  ///< of labels or numbers: what they are, in words
  bool has_coordinate = false;  ///< of a file: a variable has the same name
};

enum class VariableType {
  kDouble,  ///< a real number; NaN where it is missing
  kInt64,   ///< a count
  kInt8,    ///< a flag, with a meaning for each value from 0
  kText,
  kOther,  ///< in files only: a type that is not read
};

/// "float64", "int64", "int8", "text" or "other".
std::string_view to_string(VariableType type);

/// Row-major: the last dimension varies fastest. Alternatives in the order of VariableType.
using Values = std::variant<std::vector<double>,
                            std::vector<std::int64_t>,
                            std::vector<std::int8_t>,
                            std::vector<std::string>>;

/// Stands for a missing count in arrays of counts: netCDF's fill value of int64.
inline constexpr std::int64_t kMissingCount = -9223372036854775806;

/// The name of the variable that says why the values of another are present or missing.
std::string status_name(std::string_view name);

/// A named array, with its meaning and what is known of its values.
struct Variable {
  std::string name;
  VariableType type = VariableType::kDouble;
  std::vector<std::string> dimensions = {};  ///< slowest first; "" if unnamed in a file
  std::string long_name = {};
  std::string definition = {};               ///< the formula in words
  std::vector<std::string> references = {};  ///< sources: papers, without "; " in them
  /// Why it may be missing, apart from kNotComputed, kNonFinite and kFailed. Used in declarations
  /// only.
  std::vector<Status> undefined = {};
  std::vector<std::string> flag_meanings = {};  ///< one word each, no two equal
  std::string units = "1";
  int headline = 0;  ///< its position in a summary, from 1; 0 = not shown

  Values values = {};  ///< empty if there are none
  std::vector<Status> statuses =
      {};                 ///< one for all values, or one for each of them; empty = nothing was set
  bool is_proved = true;  ///< whether all present values have the proof that they should have

  std::vector<std::uint64_t> shape = {};      ///< of a file
  std::vector<std::string> coordinates = {};  ///< others with places along its dimensions
  std::string ancillary_variables = {};  ///< the variable with its statuses, in a file that has one

  /// Whether it was set: to a value, or to a reason why there is none.
  bool is_said() const { return !statuses.empty(); }

  /// The status of the first value; kNotComputed if nothing was set.
  Status status() const { return statuses.empty() ? Status::kNotComputed : statuses.front(); }

  /// The status of the first value that was attempted but is missing, although neither mathematics
  /// nor the inputs leave it undefined (is_conclusive()); status() if there is no such value.
  Status worst_status() const;

  /// The values of a variable of kDouble. @throws std::bad_variant_access for another type.
  const std::vector<double>& reals() const { return std::get<std::vector<double>>(values); }

  /// All values as real numbers, missing counts as NaN; empty for text.
  std::vector<double> numbers() const;

  /// The reals() at `index` along the first dimension; the variable must have a shape.
  /// @throws PreconditionError if `index` is out of range.
  std::vector<double> row(std::size_t index) const;

  /// The first value as a number; NaN if there is none.
  double number() const;

  /// Sets a computed number: kOk, or kNonFinite if it is NaN or infinite.
  void set(double value);

  /// Sets a number, or the reason why there is none: any status but kOk stores NaN.
  void set(double value, Status status);

  void set(const Statistic& number) { set(number.value, number.status); }

  void set(const Eigen::Ref<const Eigen::VectorXd>& values);

  /// A matrix whose rows lie along the first dimension.
  void set_rows(const Eigen::MatrixXd& values);

  /// The same with a given status, for matrices whose shorter rows are padded with NaN.
  void set_rows(const Eigen::MatrixXd& values, Status status);

  /// A symmetric matrix: row-major and column-major are the same.
  void set_symmetric(const Eigen::MatrixXd& values);

  /// Sets numbers unchanged, with one status for all or one each. In a variable of counts they
  /// become counts, and NaN becomes kMissingCount.
  void set_numbers(std::vector<double> values, std::vector<Status> statuses);

  void set_count(std::int64_t value);
  void set_flag(std::int8_t value);
  void set_flags(std::vector<std::int8_t> values);

  /// Sets no value, for this reason.
  void set_missing(Status status);
};

/// The coordinate variable of a dimension: its labels or numbers. Nothing if it has neither.
std::optional<Variable> coordinate_of(const Dimension& dimension);

/// The index of a variable in its group.
enum class VariableId : std::size_t {};

/// Variables under a common name, in the order in which they are stored and shown.
struct Group {
  std::string name = {};  ///< "" for the root of a file
  std::vector<Attribute> attributes = {};
  std::vector<Dimension> dimensions = {};
  std::vector<Variable> variables = {};

  /// @throws PreconditionError if there already is a variable of this name.
  VariableId add(Variable variable);

  Variable& operator[](VariableId id) { return variables[static_cast<std::size_t>(id)]; }

  const Variable& operator[](VariableId id) const {
    return variables[static_cast<std::size_t>(id)];
  }

  /// @throws PreconditionError, with the nearest name, if there is no variable of this name.
  Variable& operator[](std::string_view variable);
  const Variable& operator[](std::string_view variable) const;

  /// nullptr if there is no variable of this name.
  Variable* find(std::string_view variable);
  const Variable* find(std::string_view variable) const;

  /// The value of an attribute; nullptr if there is none.
  const AttributeValue* find_attribute(std::string_view attribute) const;

  /// set_missing() for every variable that was not set, except flags.
  void set_rest_missing(Status status);

  /// Takes over the values of `other` for variables of the same names. @throws PreconditionError
  /// for a name that this group lacks.
  void take(const Group& other);

  /// Appends the numbers and statuses of `other` to those of the variables of the same names.
  /// @throws PreconditionError for a name that this group lacks.
  void append(const Group& other);
};

}  // namespace hesscope
