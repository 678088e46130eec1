// SPDX-License-Identifier: BSD-3-Clause
//
// Which numbers of a result lack the proof that they should have.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hesscope/dataset/result_reader.h>

namespace hesscope::detail {

/// How warnings describe such numbers, after their names.
inline constexpr char kUnproved[] =
    "converged without a count, so another eigenvalue may have been missed";

/// An attribute of the root, if there are such numbers: one line for each variable, with GROUP/NAME
/// and, unless the whole variable is meant, the rows along its first dimension, as in "tracking/gap
/// 0-2,5".
class UnprovedNumbers {
 public:
  static constexpr char kAttribute[] = "unproved";

  UnprovedNumbers() = default;
  explicit UnprovedNumbers(const io::ResultReader& result);

  /// @param row  empty: the variable as a whole.
  void add(const std::string& group, const std::string& name, std::optional<std::size_t> row);

  bool is_empty() const { return all_.empty(); }

  /// The value of the attribute.
  std::string text() const;

  /// For each of `count` rows, whether the variable is unproved there; for a variable without rows
  /// `count` is 1.
  std::vector<bool> rows_of(const std::string& group,
                            const std::string& name,
                            std::size_t count) const;

 private:
  using Range = std::pair<std::size_t, std::size_t>;  // of rows: the first and the last
  using Ranges = std::vector<Range>;                  // empty: the variable as a whole

  void read_line(std::string_view line);

  std::map<std::string, Ranges, std::less<>> all_;  // by GROUP/NAME
};

}  // namespace hesscope::detail
