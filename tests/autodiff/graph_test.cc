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

#include "support/gauss_newton_oracle.h"
#include "support/graph_oracle.h"
#include "support/loss_oracle.h"

namespace hesscope {
namespace {

using test::Column;
using test::Dense;

// Two groups of Hessian columns, so that an operand of parameters 0..5 is inactive while 8..11 are
// seeded; and full packs of samples beside a padded one, whatever the lanes.
constexpr int kParameters = 12;
constexpr int kOutputs = 36;  // at most, of an operation
constexpr Eigen::Index kRecord = 12;
constexpr Eigen::Index kSamples = 11;

// A hundred operations, each with a rounding of eps / 2, and some cancellation.
constexpr double kTolerance = 1e-14;

double weight(Eigen::Index i, Eigen::Index j) {
  return 1.25 + 0.5 * std::sin(static_cast<double>(1 + 3 * i + 5 * j));
}

// sum_ij w_ij (m_ij + m_ij^2): curved, and every entry counts differently.
Var readout(Var m) {
  const Eigen::MatrixXd weights = Eigen::MatrixXd::NullaryExpr(
      m.rows(), m.cols(), [](Eigen::Index i, Eigen::Index j) { return weight(i, j); });
  return sum(hadamard(m.graph().constant(weights), m + square(m)));
}

template <typename T>
T readout(const Dense<T>& m) {
  T total(0.0);
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    for (Eigen::Index j = 0; j < m.cols(); ++j) {
      total += T(weight(i, j)) * (m(i, j) + m(i, j) * m(i, j));
    }
  }
  return total;
}

// Entries [offset, offset + rows * cols) as a matrix, row-major.
template <typename T, typename Source>
Dense<T> matrix(const Source& source, Eigen::Index offset, Eigen::Index rows, Eigen::Index cols) {
  Dense<T> m(rows, cols);
  for (Eigen::Index i = 0; i < rows; ++i) {
    for (Eigen::Index j = 0; j < cols; ++j) m(i, j) = T(source[offset + i * cols + j]);
  }
  return m;
}

// The constant operand of these tests.
Eigen::MatrixXd constant(Eigen::Index rows, Eigen::Index cols) {
  return Eigen::MatrixXd::NullaryExpr(rows, cols, [](Eigen::Index i, Eigen::Index j) {
    return std::cos(static_cast<double>(2 + 7 * i + 3 * j));
  });
}

// The matrix that an operation gives as a prediction, its readout as the loss of that.
template <typename Output>
struct Readout {
  Output output;
  Eigen::Index rows;
  Eigen::Index cols;

  template <typename T>
  Column<T> prediction(const Column<T>& theta, const double* record) const {
    const Dense<T> m = output(theta, record);
    Column<T> z(rows * cols);
    for (Eigen::Index e = 0; e < z.size(); ++e) z(e) = m(e / cols, e % cols);
    return z;
  }

  template <typename T>
  T loss(const Column<T>& z, const double* /*record*/) const {
    return readout(matrix<T>(z.data(), 0, rows, cols));
  }
};

// Compares all the engine says about the graph with three oracles. `output(theta, record)` gives
// the matrix that `record_output(graph)` records; their readouts are the loss.
template <typename RecordOutput, typename Output>
void expect_derivatives(RecordOutput record_output, Output output) {
  Graph graph;
  const Var z = record_output(graph);
  graph.set_prediction(z);
  graph.set_output(readout(z));
  ASSERT_LE(graph.num_parameters(), kParameters);
  ASSERT_LE(graph.record_size(), kRecord);
  test::Numbers numbers(20);
  const Eigen::VectorXd theta = numbers.vector(graph.num_parameters());
  const SampleTable samples = numbers.table(kSamples, kRecord);
  const test::MeanLoss mean{
      [&](const auto& point, const double* entries) { return readout(output(point, entries)); },
      samples};

  const test::Derivatives actual = test::from_sweep(graph, theta, samples);
  test::expect_near(
      actual, test::by_nested_ceres<kParameters>(mean, theta), kTolerance, "nested Jets");
  test::expect_near(actual, test::by_fifty_digits(mean, theta), kTolerance, "50-digit differences");
  const MultiprecisionDerivatives exact =
      multiprecision_derivatives(graph, test::span_of(theta), test::records_of(samples));
  test::expect_near(
      actual, {exact.value, exact.gradient, exact.hessian}, kTolerance, "the 50-digit tape");

  for (const int width : {1, 3}) {
    test::expect_near(
        test::from_sweep(graph, theta, samples, width), actual, kTolerance, "width 8");
  }
  // H V, all parameters seeded at once.
  const Eigen::Index n = theta.size();
  constexpr int kDirections = 3;
  const SampleTable v = numbers.table(n, kDirections);
  SampleTable product = SampleTable::Zero(n, kDirections);
  Sweep::create(graph)->hessian_times(test::span_of(theta),
                                      test::records_of(samples),
                                      {v.data(), static_cast<std::size_t>(v.size())},
                                      kDirections,
                                      {product.data(), static_cast<std::size_t>(product.size())});
  product /= static_cast<double>(kSamples);
  EXPECT_TRUE((product - actual.hessian * v).norm() <=
              kTolerance * actual.hessian.norm() * v.norm());

  // The operation as the prediction: its first derivatives enter and its second must not.
  const Readout<Output> parts{output, z.rows(), z.cols()};
  const auto gauss_newton = [&](int width) {
    return test::from_sweep(graph, theta, samples, width, Curvature::kGaussNewton).hessian;
  };
  const Eigen::MatrixXd G = gauss_newton(8);
  test::expect_near(
      G,
      test::gauss_newton(parts, samples, theta, test::ByNestedCeres<kParameters, kOutputs>{}),
      kTolerance,
      "J^T L J by nested Jets");
  test::expect_near(G,
                    test::gauss_newton(parts, samples, theta, test::ByFiftyDigits{}),
                    kTolerance,
                    "J^T L J by 50-digit differences");
  for (const int width : {1, 3}) test::expect_near(gauss_newton(width), G, kTolerance, "width 8");
}

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

// A unary operation on 3 x 4 parameters, all twelve.
template <typename Recorded, typename Scalar>
void expect_unary(Recorded recorded, Scalar scalar) {
  expect_derivatives([&](Graph& g) { return recorded(g.parameter(0, 3, 4)); },
                     [&](const auto& theta, const double* /*record*/) {
                       using T = typename std::decay_t<decltype(theta)>::Scalar;
                       return Dense<T>(scalar(matrix<T>(theta, 0, 3, 4)));
                     });
}

template <typename M, typename F>
M entrywise(M m, F f) {
  for (Eigen::Index i = 0; i < m.size(); ++i) m.data()[i] = f(m.data()[i]);
  return m;
}

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
}  // namespace hesscope
