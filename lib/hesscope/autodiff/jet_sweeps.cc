// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>

#include <hesscope/autodiff/detail/jet_sweeps.h>
#include <hesscope/core/error.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;

// Entry (i, j), i >= j, in the first columns of a packed lower triangle: Jet::packed().
double packed_entry(const double* second, Index num_variables, Index i, Index j) {
  return second[j * num_variables - j * (j - 1) / 2 + (i - j)];
}

}  // namespace

std::vector<JetSweep> gradient_sweeps(Index n, Index num_variables) {
  std::vector<JetSweep> sweeps;
  for (Index column = 0; column < n; column += num_variables) {
    sweeps.push_back({column, std::min(num_variables, n - column), n, 0});
  }
  return sweeps;
}

std::vector<JetSweep> hessian_sweeps(Index n, Index num_variables, Index num_columns) {
  std::vector<JetSweep> sweeps;
  for (Index column = 0; column < n; column += num_columns) {
    const Index width = std::min(num_columns, n - column);
    Index row = column + width;
    do {
      const Index num_rows = std::min(num_variables - num_columns, n - row);
      sweeps.push_back({column, width, row, num_rows});
      row += num_rows;
    } while (row < n);
  }
  return sweeps;
}

std::vector<JetSweep> direction_sweeps(Index n, Index k) {
  constexpr Index kColumns = FourDirectionsJet::kNumColumns;
  constexpr Index kRows = FourDirectionsJet::kNumVariables - kColumns;
  static_assert(kRows == OneDirectionJet::kNumVariables - OneDirectionJet::kNumColumns);
  std::vector<JetSweep> sweeps;
  for (Index column = 0; column < k; column += kColumns) {
    for (Index row = 0; row < n; row += kRows) {
      sweeps.push_back({column, std::min(kColumns, k - column), row, std::min(kRows, n - row)});
    }
  }
  return sweeps;
}

void store_gradient(const double* slopes, const JetSweep& sweep, double* gradient) {
  std::copy_n(slopes, sweep.num_columns, gradient + sweep.column);
}

void store_hessian(const double* second,
                   Index num_variables,
                   Index num_columns,
                   const JetSweep& sweep,
                   Eigen::MatrixXd& hessian) {
  const auto store = [&](Index row, Index column, Index i, Index j) {
    hessian(row, column) = hessian(column, row) = packed_entry(second, num_variables, i, j);
  };
  for (Index j = 0; j < sweep.num_columns; ++j) {
    if (sweep.row == sweep.column + sweep.num_columns) {
      for (Index i = j; i < sweep.num_columns; ++i) {
        store(sweep.column + i, sweep.column + j, i, j);
      }
    }
    for (Index i = 0; i < sweep.num_rows; ++i) {
      store(sweep.row + i, sweep.column + j, num_columns + i, j);
    }
  }
}

void store_products(const double* second,
                    Index num_variables,
                    Index num_columns,
                    const JetSweep& sweep,
                    Eigen::MatrixXd& products) {
  for (Index j = 0; j < sweep.num_columns; ++j) {
    for (Index i = 0; i < sweep.num_rows; ++i) {
      products(sweep.row + i, sweep.column + j) =
          packed_entry(second, num_variables, num_columns + i, j);
    }
  }
}

void refuse_empty_point(const char* function) {
  throw PreconditionError(std::string(function) + ": x must have at least 1 entry");
}

void refuse_directions(const char* function, Index n, Index num_rows) {
  throw PreconditionError(std::string(function) + ": V must have as many rows as x has entries, " +
                          std::to_string(n) + ", got " + std::to_string(num_rows));
}

}  // namespace hesscope::detail
