// SPDX-License-Identifier: BSD-3-Clause
//
// Where and how parameters enter a graph.
//
// Most parameters enter linearly: as the weights of a product, a bias, a gain, or a row of a table.
// At each of its positions t and for each of its units i, such a use adds
//   z[t,i] += sum_j theta[i,j] x[t,j]
// to entries z of the graph, for entries x that depend on theta[i,j] only through other uses. A
// parameter that enters in any other way is a use of itself: z = theta, x = 1.
#pragma once

#include <algorithm>
#include <vector>

#include <hesscope/structured/internal/graph/entry_numbers.h>

namespace hesscope::detail {

/// In ParameterUse::x: stands for the number 1.
inline constexpr int kUnitInput = -1;

struct ParameterUse {
  int positions = 1;
  int units = 1;
  int inputs = 1;
  double factor = 1;            ///< of x
  bool is_per_unit = false;     ///< x is x[t,i] instead of x[t,j], and inputs is 1
  bool x_varies = true;         ///< whether any x depends on parameters
  std::vector<int> z = {};      ///< entry of z[t,i] at t * units + i
  std::vector<int> x = {};      ///< entry of x[t,j] at t * inputs + j; or of x[t,i]; or kUnitInput
  std::vector<int> theta = {};  ///< parameter (i, j) at i * inputs + j; -1 if there is none

  /// z = W x, at one position.
  bool is_single_product() const { return positions == 1 && !is_per_unit; }

  bool has_all_parameters() const { return std::ranges::find(theta, -1) == theta.end(); }

  int x_at(int t, int i, int j) const {
    return x[static_cast<std::size_t>(is_per_unit ? t * units + i : t * inputs + j)];
  }
};

/// One-hot rows that represent a lookup: entry first + t * table_rows + k is 1 if the lookup's row
/// t is k, else 0.
struct OneHotRows {
  int rows_node = 0;  ///< a column with the row numbers
  int positions = 0;
  int table_rows = 0;
  int first = 0;
};

struct ParameterUses {
  std::vector<ParameterUse> uses;
  std::vector<OneHotRows> one_hots;
  int num_entries = 0;  ///< including one-hot rows
  /// For each node: whether the output depends on it.
  std::vector<char> is_needed;
  /// For each node: whether it, and therefore its adjoint, depends on what the uses add to.
  std::vector<char> varies;
  /// False if a lookup's table is computed from parameters, or lookups have too many one-hot rows.
  bool is_supported = true;
};

ParameterUses find_parameter_uses(const Graph& graph, const EntryNumbers& entries);

}  // namespace hesscope::detail
