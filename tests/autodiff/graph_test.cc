// SPDX-License-Identifier: BSD-3-Clause
//
// Every operation of a graph, with each mixture of operands, against scalar code that shares
// nothing with the tape.
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/core/error.h>

#include "graph_harness.h"
#include "support/graph_oracle.h"
#include "support/sweep_derivatives.h"

namespace hesscope::test {
namespace {

// The kinds of a binary operation's operands, each 2 x 3 from 6 parameters or 6 record entries.
struct Operands {
  const char* name;
  char
      a;  // p: parameters 0..5, r: parameters 6..11, i: input, c: constant, s: the operand a itself
  char b;
};

void PrintTo(const Operands& operands, std::ostream* out) { *out << operands.name; }

class EachOperation : public testing::TestWithParam<Operands> {
 protected:
  static Var operand(Graph& g, char kind, Eigen::Index rows, Eigen::Index cols) {
    switch (kind) {
      case 'p':
        return g.parameter(0, rows, cols);
      case 'r':
        return g.parameter(6, rows, cols);
      case 'i':
        return g.input(2, rows, cols);
      default:
        return g.constant(constant(rows, cols));
    }
  }

  template <typename T>
  static Dense<T> operand(const Column<T>& theta,
                          const double* record,
                          char kind,
                          Eigen::Index rows,
                          Eigen::Index cols) {
    switch (kind) {
      case 'p':
        return matrix<T>(theta, 0, rows, cols);
      case 'r':
        return matrix<T>(theta, 6, rows, cols);
      case 'i':
        return matrix<T>(record, 2, rows, cols);
      default:
        return constant(rows, cols).template cast<T>();
    }
  }

  // Shapes of a and b; where both are the same Var, that of a.
  template <typename Recorded, typename Scalar>
  void expect_binary(Eigen::Index a_rows,
                     Eigen::Index a_cols,
                     Eigen::Index b_rows,
                     Eigen::Index b_cols,
                     Recorded recorded,
                     Scalar scalar) {
    const auto [name, a_kind, b_kind] = GetParam();
    const bool same = b_kind == 's';
    expect_derivatives(
        [&, a_kind = a_kind, b_kind = b_kind](Graph& g) {
          const Var a = operand(g, a_kind, a_rows, a_cols);
          return recorded(a, same ? a : operand(g, b_kind, b_rows, b_cols));
        },
        [&, a_kind = a_kind, b_kind = b_kind](const auto& theta, const double* record) {
          const auto a = operand(theta, record, a_kind, a_rows, a_cols);
          return scalar(a, same ? a : operand(theta, record, b_kind, b_rows, b_cols));
        });
  }

  bool same_operand() const { return GetParam().b == 's'; }
};

template <typename M>
M product(const M& a, const M& b) {
  M c(a.rows(), b.cols());
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (Eigen::Index j = 0; j < b.cols(); ++j) {
      c(i, j) = typename M::Scalar(0.0);
      for (Eigen::Index k = 0; k < a.cols(); ++k) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

TEST_P(EachOperation, Add) {
  expect_binary(
      2,
      3,
      2,
      3,
      [](Var a, Var b) { return a + b; },
      [](const auto& a, const auto& b) { return std::decay_t<decltype(a)>(a + b); });
}

TEST_P(EachOperation, Subtract) {
  // a - a is 0 with derivative 0; squaring a first keeps the comparison from being of zeros.
  expect_binary(
      2,
      3,
      2,
      3,
      [](Var a, Var b) { return square(a) - b; },
      [](const auto& a, const auto& b) {
        return std::decay_t<decltype(a)>(a.cwiseProduct(a) - b);
      });
}

TEST_P(EachOperation, Hadamard) {
  expect_binary(
      2,
      3,
      2,
      3,
      [](Var a, Var b) { return hadamard(a, b); },
      [](const auto& a, const auto& b) { return std::decay_t<decltype(a)>(a.cwiseProduct(b)); });
}

TEST_P(EachOperation, Matmul) {
  const Eigen::Index rows = same_operand() ? 2 : 3;  // a 3 x 2 matrix, or a square one
  expect_binary(
      rows,
      2,
      2,
      3,
      [](Var a, Var b) { return matmul(a, b); },
      [](const auto& a, const auto& b) { return product(a, b); });
}

TEST_P(EachOperation, MatmulWithSecondTransposed) {
  expect_binary(
      3,
      2,
      2,
      2,
      [](Var a, Var b) { return matmul_nt(a, b); },
      [](const auto& a, const auto& b) {
        return product(a, std::decay_t<decltype(a)>(b.transpose()));
      });
}

TEST_P(EachOperation, MatmulWithFirstTransposed) {
  expect_binary(
      2,
      3,
      2,
      2,
      [](Var a, Var b) { return matmul_tn(a, b); },
      [](const auto& a, const auto& b) {
        return product(std::decay_t<decltype(a)>(a.transpose()), b);
      });
}

TEST_P(EachOperation, SquaredDistances) {
  expect_binary(
      3,
      2,
      2,
      2,
      [](Var a, Var b) { return squared_distances(a, b); },
      [](const auto& a, const auto& b) {
        std::decay_t<decltype(a)> d(a.rows(), b.rows());
        for (Eigen::Index i = 0; i < a.rows(); ++i) {
          for (Eigen::Index j = 0; j < b.rows(); ++j) {
            const auto x = a(i, 0) - b(j, 0);
            const auto y = a(i, 1) - b(j, 1);
            d(i, j) = x * x + y * y;
          }
        }
        return d;
      });
}

INSTANTIATE_TEST_SUITE_P(Operands,
                         EachOperation,
                         testing::Values(Operands{"TwoParameters", 'p', 'r'},
                                         Operands{"OverlappingParameters", 'p', 'p'},
                                         Operands{"ParameterAndInput", 'p', 'i'},
                                         Operands{"InputAndParameter", 'i', 'p'},
                                         Operands{"ParameterAndConstant", 'r', 'c'},
                                         Operands{"ConstantAndParameter", 'c', 'r'},
                                         Operands{"TheSameVar", 'p', 's'}),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(Graph, DifferentiatesScaling) {
  expect_unary([](Var a) { return -(2.5 * a); },
               [](const auto& a) {
                 using T = typename std::decay_t<decltype(a)>::Scalar;
                 return entrywise(a, [](const T& x) { return T(-2.5) * x; });
               });
}

TEST(Graph, DifferentiatesSoftmaxOfRows) {
  expect_unary([](Var a) { return softmax_rows(3.0 * a); },
               [](const auto& a) {
                 auto p = a;
                 for (Eigen::Index i = 0; i < a.rows(); ++i) {
                   using T = typename std::decay_t<decltype(a)>::Scalar;
                   using std::exp;
                   T total(0.0);
                   for (Eigen::Index j = 0; j < a.cols(); ++j) total += exp(T(3.0) * a(i, j));
                   for (Eigen::Index j = 0; j < a.cols(); ++j)
                     p(i, j) = exp(T(3.0) * a(i, j)) / total;
                 }
                 return p;
               });
}

TEST(Graph, DifferentiatesLogSumExp) {
  expect_unary([](Var a) { return log_sum_exp(a); },
               [](const auto& a) {
                 using T = typename std::decay_t<decltype(a)>::Scalar;
                 using std::exp;
                 using std::log;
                 T total(0.0);
                 for (Eigen::Index i = 0; i < a.size(); ++i) total += exp(a.data()[i]);
                 return Dense<T>::Constant(1, 1, log(total));
               });
}

TEST(Graph, DifferentiatesCrossEntropy) {
  expect_unary(
      [](Var a) {
        const Var target = a.graph().constant(Eigen::Vector3d(0, 1, 0));
        return cross_entropy(slice(a, 0, 2, 3, 1), target);
      },
      [](const auto& a) {
        using T = typename std::decay_t<decltype(a)>::Scalar;
        using std::exp;
        using std::log;
        T total(0.0);
        for (Eigen::Index i = 0; i < 3; ++i) total += exp(a(i, 2));
        return Dense<T>::Constant(1, 1, log(total) - a(1, 2));
      });
}

TEST(Graph, DifferentiatesSum) {
  expect_unary([](Var a) { return sum(a); },
               [](const auto& a) {
                 using T = typename std::decay_t<decltype(a)>::Scalar;
                 T total(0.0);
                 for (Eigen::Index i = 0; i < a.size(); ++i) total += a.data()[i];
                 return Dense<T>::Constant(1, 1, total);
               });
}

TEST(Graph, DifferentiatesSlices) {
  expect_unary([](Var a) { return slice(a, 1, 2, 2, 2); },
               [](const auto& a) { return std::decay_t<decltype(a)>(a.block(1, 2, 2, 2)); });
}

TEST(Graph, DifferentiatesEmbeddings) {
  // exp(0) = 1 makes the border count.
  expect_unary([](Var a) { return exp(embed(a, 1, 2, 5, 7)); },
               [](const auto& a) {
                 using T = typename std::decay_t<decltype(a)>::Scalar;
                 Dense<T> big = Dense<T>::Constant(5, 7, T(0.0));
                 big.block(1, 2, 3, 4) = a;
                 return entrywise(big, [](const T& x) {
                   using std::exp;
                   return exp(x);
                 });
               });
}

TEST(Graph, SumsAdjointsOfAParameterUsedInSeveralPlaces) {
  // Overlapping windows 0..5 and 3..8 of the same parameters, and a node used three times.
  expect_derivatives(
      [](Graph& g) {
        const Var a = g.parameter(0, 2, 3);
        const Var b = g.parameter(3, 3, 2);
        const Var c = matmul(a, b);
        return hadamard(c, c) + exp(c);
      },
      [](const auto& theta, const double* /*record*/) {
        using T = typename std::decay_t<decltype(theta)>::Scalar;
        return entrywise(product(matrix<T>(theta, 0, 2, 3), matrix<T>(theta, 3, 3, 2)),
                         [](const T& x) {
                           using std::exp;
                           return x * x + exp(x);
                         });
      });
}

}  // namespace
}  // namespace hesscope::test
