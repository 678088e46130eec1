// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/status.h>

namespace hesscope {

/// One quantity an analyzer stores, for each checkpoint or for a whole run. For the former the
/// result file puts `checkpoint` before its dimensions; for numbers, a variable NAME_status beside
/// it.
struct Quantity {
  enum class Type {
    kReal,   ///< double; NaN where not computed, with a status
    kCount,  ///< int64; missing where not computed
    kFlag,   ///< int8 with a meaning for each value from 0
  };

  std::string name;
  Type type = Type::kReal;
  std::vector<std::string> dimensions = {};  ///< beyond `checkpoint`; slowest first
  std::string long_name;
  std::string definition;               ///< the formula in words
  std::vector<std::string> flags = {};  ///< kFlag: the meanings
  std::string units = "1";
};

/// What one analyzer found for one checkpoint, or one run. Quantities that are not set stay "not
/// computed".
class Record {
 public:
  struct Real {
    Status status = Status::kNotComputed;
    std::vector<double>
        values;  ///< row-major over the quantity's dimensions; empty when not computed
  };

  using Entry = std::variant<Real, std::int64_t, std::int8_t>;

  /// A number that is there (kOk, or kNonFinite if it is NaN or infinite).
  void set(const std::string& name, double value);

  /// A number, or the reason why there is none: any status but kOk stores NaN.
  void set(const std::string& name, double value, Status status);

  void set(const std::string& name, const Eigen::Ref<const Eigen::VectorXd>& values);

  /// A matrix whose rows lie along the quantity's first dimension.
  void set_rows(const std::string& name, const Eigen::MatrixXd& values);

  /// The same with a status of its own, for matrices whose rows end in NaN where they are shorter.
  void set_rows(const std::string& name, const Eigen::MatrixXd& values, Status status);

  /// A symmetric matrix: row-major and column-major are the same.
  void set_symmetric(const std::string& name, const Eigen::MatrixXd& values);

  /// Nothing was computed, for this reason.
  void set_missing(const std::string& name, Status status);

  /// set_missing for every one of these, flags apart, that has no entry yet.
  void set_rest_missing(const std::vector<Quantity>& quantities, Status status);

  void set_count(const std::string& name, std::int64_t value);
  void set_flag(const std::string& name, std::int8_t value);

  /// An entry as another record has it.
  void set_entry(const std::string& name, Entry entry) { entries_[name] = std::move(entry); }

  const std::map<std::string, Entry>& entries() const { return entries_; }

  /// Says of a number that is there that nothing proves it.
  void set_unproved(const std::string& name) { unproved_.push_back(name); }

  const std::vector<std::string>& unproved() const { return unproved_; }

 private:
  std::map<std::string, Entry> entries_;
  std::vector<std::string> unproved_;
};

}  // namespace hesscope
