// SPDX-License-Identifier: BSD-3-Clause
//
// Matrix products and determinants. In products, the batch may be among the stacked axes, or be the
// rows of the left or the columns of the right matrix; it is never summed over, and never meets
// itself.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include <hesscope/import/internal/einsum_operator.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

// A tensor as a stack of matrices.
struct Stack {
  Value value;
  Axes front;  // one matrix for each entry of these
  Axis rows;
  Axis cols;
};

Stack stack_of(const OperatorCall& call, Value value, bool is_left) {
  if (value.rank() == 0) call.refuse("multiplies a number; matrices are expected");
  if (value.rank() == 1) {  // a row on the left, a column on the right
    value.axes.insert(is_left ? value.axes.begin() : value.axes.end(), Axis{});
  }
  Stack stack{value, value.axes, {}, {}};
  stack.cols = stack.front.back();
  stack.front.pop_back();
  stack.rows = stack.front.back();
  stack.front.pop_back();
  return stack;
}

void require_inner(const OperatorCall& call, const Value& a, const Value& b, Axis x, Axis y) {
  if (x.has_batch || y.has_batch) {
    call.refuse("shapes {} and {}: sums over the batch (N), samples would interact",
                text(a.axes),
                text(b.axes));
  }
  if (x.size != y.size) {
    call.refuse("shapes {} and {} do not fit: {} and {} entries are summed over",
                text(a.axes),
                text(b.axes),
                x.size,
                y.size);
  }
}

bool is_single(const Axes& axes) { return size_of(axes) == 1; }

Values lower_matmul(const OperatorCall& call) {
  const Value left = call.real(0);
  const Value right = call.real(1);
  const Stack a = stack_of(call, left, true);
  const Stack b = stack_of(call, right, false);
  require_inner(call, left, right, a.cols, b.rows);
  const Axes front = broadcast_axes(call, a.front, b.front);
  Axes axes = front;
  axes.push_back(a.rows);
  axes.push_back(b.cols);
  if (std::ranges::count_if(axes, &Axis::has_batch) > 1) {
    call.refuse("shapes {} and {}: each sample of the batch (N) would meet all others",
                text(left.axes),
                text(right.axes));
  }
  call.checked_size(axes);
  const std::int64_t stack = size_of(front);
  // One right matrix for all: the left ones form one tall matrix.
  const Var product = [&] {
    const auto whole = [&](const Stack& s) {
      Axes full = front;
      full.push_back(s.rows);
      full.push_back(s.cols);
      return expanded(call, s.value, full);
    };
    if (is_single(b.front)) {
      const std::int64_t rows = size_of(a.front) * a.rows.size;
      return matmul(matrix(a.value, rows, a.cols.size), matrix(b.value, b.rows.size, b.cols.size));
    }
    const bool is_shared = is_single(a.front);
    const Var tall = is_shared ? matrix(a.value, a.rows.size, a.cols.size)
                               : matrix(whole(a), stack * a.rows.size, a.cols.size);
    return stacked_matmul(tall,
                          matrix(whole(b), stack * b.rows.size, b.cols.size),
                          {.stack = stack, .is_shared_a = is_shared});
  }();
  if (right.rank() == 1) axes.pop_back();
  if (left.rank() == 1) axes.erase(axes.end() - (right.rank() == 1 ? 1 : 2));
  return {call.result(product, std::move(axes))};
}

// alpha A' B' + beta C, where A' is A or its transpose.
Values lower_gemm(const OperatorCall& call) {
  const Value a = call.real(0);
  const Value b = call.real(1);
  if (a.rank() != 2 || b.rank() != 2) {
    call.refuse(
        "multiplies shapes {} and {}; two matrices are expected", text(a.axes), text(b.axes));
  }
  const double alpha = call.number("alpha", 1);
  const double beta = call.number("beta", 1);
  if (std::floor(alpha) != alpha || std::floor(beta) != beta) {
    call.require_no_integers(0, "adds fractions of");
  }
  const bool is_transposed_a = call.integer("transA", 0) != 0;
  const bool is_transposed_b = call.integer("transB", 0) != 0;
  require_inner(call, a, b, a.axes[is_transposed_a ? 0 : 1], b.axes[is_transposed_b ? 1 : 0]);
  const Axes axes = {a.axes[is_transposed_a ? 1 : 0], b.axes[is_transposed_b ? 0 : 1]};
  if (axes[0].has_batch && axes[1].has_batch) {
    call.refuse("shapes {} and {}: each sample of the batch (N) would meet all others",
                text(a.axes),
                text(b.axes));
  }
  const StackedProduct how{.transpose_a = is_transposed_a, .transpose_b = is_transposed_b};
  Var product = stacked_matmul(
      matrix(a, a.axes[0].size, a.axes[1].size), matrix(b, b.axes[0].size, b.axes[1].size), how);
  if (alpha != 1) product = alpha * product;
  if (!call.has_entries(2)) return {call.result(product, axes)};
  const Value value = call.result(product, axes);
  const Value c = call.real(2);
  if (broadcast_axes(call, axes, c.axes) != axes) {
    call.refuse("adds {} to {}, which does not fit", text(c.axes), text(axes));
  }
  const Operands sum = elementwise_operands(call, value, c, axes);
  return {call.result(sum.a + (beta == 1 ? sum.b : beta * sum.b), axes)};
}

// Subsets of `count` of n columns, each ascending, in lexicographic order.
std::vector<std::vector<int>> choices(int n, int count) {
  std::vector<std::vector<int>> all;
  std::vector<int> chosen(static_cast<std::size_t>(count));
  std::iota(chosen.begin(), chosen.end(), 0);
  for (bool has_more = true; has_more;) {
    all.push_back(chosen);
    has_more = false;
    for (int k = count - 1; k >= 0 && !has_more; --k) {
      if (chosen[static_cast<std::size_t>(k)] == n - count + k) continue;
      has_more = true;
      std::iota(chosen.begin() + k, chosen.end(), chosen[static_cast<std::size_t>(k)] + 1);
    }
  }
  return all;
}

// The minors of the first count rows, from those with one row less, by Laplace expansion along the
// last row: d(c_0 ... c_k) = sum_j (-1)^(k + j) a(k, c_j) d(c_0 ... c_k without c_j).
// @param entries, minors  a row for each matrix: n x n entries, and the minors in the order of
//                         choices().
Var next_minors(const OperatorCall& call, Var entries, Var minors, int n, int count) {
  std::map<std::vector<int>, std::int64_t> before;
  for (const std::vector<int>& columns : choices(n, count - 1)) {
    before.emplace(columns, std::ssize(before));
  }
  const std::vector<std::vector<int>> after = choices(n, count);
  const std::int64_t num_matrices = entries.rows();
  std::vector<std::int32_t> factors;
  std::vector<std::int32_t> cofactors;
  for (std::int64_t matrix = 0; matrix < num_matrices; ++matrix) {
    for (const std::vector<int>& columns : after) {
      for (std::size_t j = 0; j < columns.size(); ++j) {
        std::vector<int> others = columns;
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(j));
        const std::int64_t entry = std::int64_t{count - 1} * n + columns[j];
        factors.push_back(static_cast<std::int32_t>(matrix * n * n + entry));
        cofactors.push_back(
            static_cast<std::int32_t>(matrix * std::ssize(before) + before.at(others)));
      }
    }
  }
  std::vector<double> signs;
  for (int j = 0; j < count; ++j) signs.push_back((count - 1 + j) % 2 == 0 ? 1 : -1);
  const std::int64_t rows = num_matrices * std::ssize(after);
  const Var terms =
      hadamard(gather(entries, factors, rows, count), gather(minors, cofactors, rows, count));
  const Var sums = sum_rows(hadamard(terms, reshape(call.constant(signs), 1, count)));
  return reshape(sums, num_matrices, std::ssize(after));
}

// Determinants of matrices by their minors: polynomials of the entries, whose derivatives are also
// correct for singular matrices. n 2^(n - 1) products for each.
Values lower_det(const OperatorCall& call) {
  constexpr std::int64_t kMostRows = 12;
  const Value x = call.real(0);
  const int rank = x.rank();
  const std::int64_t n = rank < 2 ? 0 : x.axes.back().size;
  if (n < 1 || x.axes[static_cast<std::size_t>(rank - 2)].size != n) {
    call.refuse("takes square matrices, got {}", text(x.axes));
  }
  call.require_no_batch(x, rank - 2, "its matrices have their rows along");
  call.require_no_batch(x, rank - 1, "its matrices have their columns along");
  if (n > kMostRows) {
    call.refuse(
        "takes matrices of up to {} rows, got {}: the determinant of a larger one is that "
        "of its triangular factor, if the model has one",
        kMostRows,
        n);
  }
  const Axes axes(x.axes.begin(), x.axes.end() - 2);
  call.checked_size(plain_axes({size_of(axes), n << n}));
  const Var entries = matrix(x, size_of(axes), n * n);
  Var minors = slice(entries, 0, 0, entries.rows(), n);
  for (int count = 2; count <= n; ++count) {
    minors = next_minors(call, entries, minors, static_cast<int>(n), count);
  }
  return {call.result(minors, axes)};
}

}  // namespace

std::span<const Operator> product_operators() {
  static constexpr auto kProductOperators = std::to_array<Operator>({
      {"Det", lower_det, kAllSlopes, 11},
      {"Einsum", of_same_kind<lower_einsum>, kAllSlopes, 12},
      {"Gemm", of_same_kind<lower_gemm>},
      {"MatMul", of_same_kind<lower_matmul>},
  });
  return kProductOperators;
}

}  // namespace hesscope::onnx
