// SPDX-License-Identifier: BSD-3-Clause
//
// Where parameters enter a graph, and how.
//
// Most parameters enter linearly: as the weights of a product, as a bias, a gain, a row of a table.
// Such a use adds, at each of its positions t and for each of its units i,
//   z[t,i] += sum_j theta[i,j] x[t,j]
// to entries z of the graph, for entries x that do not depend on theta[i,j] but through other uses.
// A parameter that enters in another way is a use of itself: z = theta, x = 1.
#pragma once

#include <algorithm>
#include <vector>

#include <hesscope/structured/internal/graph/entry_numbers.h>

namespace hesscope::detail {

/// In ParameterUse::x, for a number that is 1.
inline constexpr int kUnitInput = -1;

struct ParameterUse {
  int positions = 1;
  int units = 1;
  int inputs = 1;
  double factor = 1;            ///< of x
  bool is_per_unit = false;     ///< x is x[t,i] instead of x[t,j], and inputs 1
  bool x_varies = true;         ///< whether any x depends on parameters
  std::vector<int> z = {};      ///< entry of z[t,i] at t * units + i
  std::vector<int> x = {};      ///< entry of x[t,j] at t * inputs + j; or of x[t,i]; or kUnitInput
  std::vector<int> theta = {};  ///< parameter (i, j) at i * inputs + j; -1 for none

  /// z = W x, at one position.
  bool is_single_product() const { return positions == 1 && !is_per_unit; }

  bool has_all_parameters() const { return std::ranges::find(theta, -1) == theta.end(); }

  int x_at(int t, int i, int j) const {
    return x[static_cast<std::size_t>(is_per_unit ? t * units + i : t * inputs + j)];
  }
};

/// Rows of zeros with a 1 that a lookup stands for: entry first + t * table_rows + k is 1 where the
/// lookup's row t is k.
struct OneHotRows {
  int rows_node = 0;  ///< which rows, a column
  int positions = 0;
  int table_rows = 0;
  int first = 0;
};

struct ParameterUses {
  std::vector<ParameterUse> uses;
  std::vector<OneHotRows> one_hots;
  int num_entries = 0;  ///< with one-hot rows
  /// Of each node: whether it leads to the output.
  std::vector<char> is_needed;
  /// Of each node: whether it depends on what the uses add to, as its adjoint then does.
  std::vector<char> varies;
  /// False where a lookup's table is computed from parameters, or lookups have too many one-hot
  /// rows.
  bool is_supported = true;
};

ParameterUses find_parameter_uses(const Graph& graph, const EntryNumbers& entries);

}  // namespace hesscope::detail
