// SPDX-License-Identifier: BSD-3-Clause
//
// What every result is made of: named arrays with dimensions, a meaning and a reason why they are,
// or are not, there. An analyzer answers with a Group; surfaces, histories and the data of figures
// are Groups; what a file holds is listed as Groups.
//
//   Group answer{.name = "condition"};
//   const VariableId classical = answer.add(
//       {.name = "classical", .long_name = "condition number", .definition = "max / min"});
//   answer[classical].set(largest / smallest);
//   answer.set_rest_missing(Status::kNotComputed);     // all that nothing was said of
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

/// A dimension, and what lies along it, if that has names or numbers.
struct Dimension {
  std::string name;
  std::int64_t size = 0;
  std::vector<std::string> labels = {};
  std::vector<std::int64_t> numbers = {};
  std::string long_name = {};   ///< of labels or numbers; "names along the dimension NAME" if empty
  std::string definition = {};  ///< of the same, in words
  bool has_coordinate = false;  ///< of a file: there is a variable of the same name
};

enum class VariableType {
  kDouble,  ///< a real number; NaN where it is missing
  kInt64,   ///< a count
  kInt8,    ///< a flag, with a meaning for each value from 0
  kText,
  kOther,  ///< of files only: a type that is not read
};

/// Row-major: the last dimension is the fastest. In the order of VariableType.
using Values = std::variant<std::vector<double>,
                            std::vector<std::int64_t>,
                            std::vector<std::int8_t>,
                            std::vector<std::string>>;

/// A count that is missing, in arrays of counts: netCDF's fill value of int64.
inline constexpr std::int64_t kMissingCount = -9223372036854775806;

/// The name of the variable that says why another is, or is not, there.
std::string status_name(std::string_view name);

/// A named array: what it means, and what is there.
struct Variable {
  std::string name;
  VariableType type = VariableType::kDouble;
  std::vector<std::string> dimensions = {};  ///< slowest first; "" where a file names none
  std::string long_name = {};
  std::string definition = {};               ///< the formula in words
  std::vector<std::string> references = {};  ///< where it is from: papers, without "; " in them
  /// Why it may be missing, besides kNotComputed, kNonFinite and kFailed. Of declarations only.
  std::vector<Status> undefined = {};
  std::vector<std::string> flag_meanings = {};  ///< one word each, no two equal
  std::string units = "1";
  int headline = 0;  ///< its place in a summary, from 1; 0 = it is not shown

  Values values = {};  ///< empty where there are none
  std::vector<Status> statuses =
      {};                 ///< one for all, or one for each value; empty = nothing was said
  bool is_proved = true;  ///< whether all that is there has the proof that it should have

  std::vector<std::uint64_t> shape = {};      ///< of a file
  std::vector<std::string> coordinates = {};  ///< others with places along its dimensions
  std::string ancillary_variables = {};       ///< its statuses, in a file that has some

  /// Whether anything was said of it: a value, or why there is none.
  bool is_said() const { return !statuses.empty(); }

  /// That of the first value; kNotComputed where nothing was said.
  Status status() const { return statuses.empty() ? Status::kNotComputed : statuses.front(); }

  /// That of the first value which is missing, though it was sought and mathematics or the inputs
  /// do not leave it undefined (is_conclusive()); status() where there is none such.
  Status worst_status() const;

  /// The values of a variable of kDouble. @throws std::bad_variant_access for another type.
  const std::vector<double>& reals() const { return std::get<std::vector<double>>(values); }

  /// All values as real numbers, missing counts as NaN; empty for text.
  std::vector<double> numbers() const;

  /// The reals() at `index` along the first dimension of a variable with a shape.
  /// @throws PreconditionError for an index beyond that.
  std::vector<double> row(std::size_t index) const;

  /// The first value as a number; NaN where there is none.
  double number() const;

  /// A number that is there: kOk, or kNonFinite if it is NaN or infinite.
  void set(double value);

  /// A number, or the reason why there is none: any status but kOk stores NaN.
  void set(double value, Status status);

  void set(const Statistic& number) { set(number.value, number.status); }

  void set(const Eigen::Ref<const Eigen::VectorXd>& values);

  /// A matrix whose rows lie along the first dimension.
  void set_rows(const Eigen::MatrixXd& values);

  /// The same with a status of its own, for matrices whose rows end in NaN where they are shorter.
  void set_rows(const Eigen::MatrixXd& values, Status status);

  /// A symmetric matrix: row-major and column-major are the same.
  void set_symmetric(const Eigen::MatrixXd& values);

  /// Numbers, as they are, with one status or one each. Of a variable of counts they become counts,
  /// NaN kMissingCount.
  void set_numbers(std::vector<double> values, std::vector<Status> statuses);

  void set_count(std::int64_t value);
  void set_flag(std::int8_t value);
  void set_flags(std::vector<std::int8_t> values);

  /// There is nothing, for this reason.
  void set_missing(Status status);
};

/// The coordinate variable of a dimension: its labels or numbers. Nothing where it has neither.
std::optional<Variable> coordinate_of(const Dimension& dimension);

/// The place of a variable in its group.
enum class VariableId : std::size_t {};

/// Variables under one name, in the order in which they are stored and shown.
struct Group {
  std::string name = {};  ///< "" for the root of a file
  std::vector<Attribute> attributes = {};
  std::vector<Dimension> dimensions = {};
  std::vector<Variable> variables = {};

  /// @throws PreconditionError if there is one of this name.
  VariableId add(Variable variable);

  Variable& operator[](VariableId id) { return variables[static_cast<std::size_t>(id)]; }

  const Variable& operator[](VariableId id) const {
    return variables[static_cast<std::size_t>(id)];
  }

  /// @throws PreconditionError if there is none of this name, with the nearest one.
  Variable& operator[](std::string_view variable);
  const Variable& operator[](std::string_view variable) const;

  /// nullptr where there is none of this name.
  Variable* find(std::string_view variable);
  const Variable* find(std::string_view variable) const;

  /// The value of an attribute; nullptr where there is none.
  const AttributeValue* find_attribute(std::string_view attribute) const;

  /// set_missing() for every variable of which nothing was said, flags apart.
  void set_rest_missing(Status status);

  /// Takes the values of `other` for variables of the same names. @throws PreconditionError for a
  /// name that is not here.
  void take(const Group& other);

  /// Adds the numbers and statuses of `other` behind those of the variables of the same names.
  /// @throws PreconditionError for a name that is not here.
  void append(const Group& other);
};

}  // namespace hesscope
