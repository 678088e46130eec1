// SPDX-License-Identifier: BSD-3-Clause
//
// A model's forward pass, recorded once.
//
// A model author writes the loss of ONE sample with the operations below; calling them records
// nodes, each a small matrix. The recorded graph is then evaluated on whatever scalar is wanted
// (tape.h): doubles give the value and, backwards, the gradient; Jets give blocks of exact Hessian
// columns (forward over reverse); 50-digit numbers give the oracle all others are tested against.
//
//   Graph g;                                    // loss = ||tanh(W x) - y||^2, W 3 x 2
//   Var W = g.parameter(0, 3, 2);               // parameters 0..5, row-major
//   Var x = g.input(0, 2, 1);                   // entries 0..1 of a sample's record
//   Var y = g.input(2, 3, 1);                   // entries 2..4
//   Var z = tanh(matmul(W, x));
//   g.set_prediction(z);                        // optional: gives the Gauss-Newton matrix
//   g.set_output(sum(square(z - y)));
//
// The graph is the same for every sample: a forward pass cannot branch on values. Functions that
// must are written against plain scalars instead (derivatives.h).
//
// Shapes are checked as nodes are recorded; a mismatch throws PreconditionError naming the
// operation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/Core>

namespace hesscope {

class Graph;

/// Elementwise functions, each with its first two derivatives in elementary.h.
///
/// At their kinks: relu and abs have slope 0 at 0 (PyTorch's choice) and second derivative 0
/// everywhere; sqrt at 0 has slope +inf, which is reported as a non-finite result, never replaced
/// by a number.
enum class Elementary : std::uint8_t {
  kAbs,
  kExp,
  kGelu,      ///< x Phi(x) with the normal distribution function Phi (erf form, not the tanh fit)
  kRelu,      ///< max(x, 0)
  kSoftplus,  ///< log(1 + exp(x))
  kSqrt,
  kSquare,
  kTanh,
};

/// A handle to a node of a graph: a matrix that depends on parameters and sample data. Cheap to
/// copy; valid as long as its graph.
class Var {
 public:
  Eigen::Index rows() const;
  Eigen::Index cols() const;

  Graph& graph() const { return *graph_; }

  std::int32_t node() const { return node_; }

 private:
  friend class Graph;

  Var(Graph* graph, std::int32_t node) : graph_(graph), node_(node) {}

  Graph* graph_;
  std::int32_t node_;
};

class Graph {
 public:
  enum class Op : std::uint8_t {
    kConstant,
    kInput,
    kParameter,
    kAdd,
    kSubtract,
    kScale,
    kHadamard,
    kMatmul,
    kElementary,
    kSoftmaxRows,
    kLogSumExp,
    kCrossEntropy,
    kSquaredDistances,
    kSum,
    kSlice,
    kEmbed,
  };

  struct Node {
    Op op;
    Elementary function = Elementary::kAbs;  ///< kElementary
    bool transpose_a = false;                ///< kMatmul
    bool transpose_b = false;                ///< kMatmul
    std::int32_t a = -1;                     ///< operands: earlier nodes, -1 if none
    std::int32_t b = -1;
    Eigen::Index rows = 0;
    Eigen::Index cols = 0;
    /// First entry: in theta (kParameter), in the sample record (kInput), in constants()
    /// (kConstant).
    Eigen::Index offset = 0;
    Eigen::Index row = 0;  ///< kSlice, kEmbed: where the smaller matrix lies in the larger
    Eigen::Index col = 0;
    double factor = 1;  ///< kScale

    Eigen::Index size() const { return rows * cols; }
  };

  /// The parameters theta[offset, offset + rows * cols) as a matrix, row-major.
  Var parameter(Eigen::Index offset, Eigen::Index rows, Eigen::Index cols);

  /// Entries of a sample's data record as a matrix, row-major.
  Var input(Eigen::Index offset, Eigen::Index rows, Eigen::Index cols);

  Var constant(const Eigen::Ref<const Eigen::MatrixXd>& value);

  /// Declares the 1 x 1 loss of a sample. @throws PreconditionError if it has another shape or
  /// depends on a parameter other than through the prediction, where one is declared.
  void set_output(Var loss);

  /// Declares what the model says of a sample, a matrix z: the loss is a function of z and the
  /// sample's data alone. This defines the Gauss-Newton matrix (curvature.h); z shifted by data is
  /// as good. @throws PreconditionError if the output, where declared before, depends on a
  /// parameter in another way.
  void set_prediction(Var z);

  std::span<const Node> nodes() const { return {nodes_.data(), nodes_.size()}; }

  std::span<const double> constants() const { return {constants_.data(), constants_.size()}; }

  std::int32_t output() const { return output_; }

  /// The prediction's node, -1 if none was declared.
  std::int32_t prediction() const { return prediction_; }

  /// One past the largest parameter index used.
  Eigen::Index num_parameters() const { return num_parameters_; }

  /// One past the largest record entry used.
  Eigen::Index record_size() const { return record_size_; }

  /// Records an operation; the functions below are its public face.
  Var record(const Node& node);

 private:
  std::vector<Node> nodes_;
  std::vector<double> constants_;  ///< row-major values of the kConstant nodes
  std::int32_t output_ = -1;
  std::int32_t prediction_ = -1;
  Eigen::Index num_parameters_ = 0;
  Eigen::Index record_size_ = 0;
};

Var operator+(Var a, Var b);
Var operator-(Var a, Var b);
Var operator-(Var a);
Var operator*(double factor, Var a);

/// Elementwise product.
Var hadamard(Var a, Var b);

Var matmul(Var a, Var b);     ///< A B
Var matmul_nt(Var a, Var b);  ///< A B^T
Var matmul_tn(Var a, Var b);  ///< A^T B

Var elementary(Elementary function, Var a);
Var abs(Var a);
Var exp(Var a);
Var gelu(Var a);
Var relu(Var a);
Var softplus(Var a);
Var sqrt(Var a);
Var square(Var a);
Var tanh(Var a);

/// exp(a_ij) / sum_k exp(a_ik), computed with each row's maximum subtracted.
Var softmax_rows(Var a);

/// log sum_ij exp(a_ij), 1 x 1, computed with the maximum subtracted.
Var log_sum_exp(Var a);

/// -log softmax(z)_t for a column z and the one t with target_t = 1, 1 x 1, accurate however small.
/// The target is a one-hot input or a constant, of z's shape.
Var cross_entropy(Var z, Var target);

/// D_ij = ||a_i - b_j||^2 over rows i of a and j of b, without cancellation.
Var squared_distances(Var a, Var b);

/// Sum of all entries, 1 x 1.
Var sum(Var a);

/// The rows x cols part of `a` that starts at (row, col).
Var slice(Var a, Eigen::Index row, Eigen::Index col, Eigen::Index rows, Eigen::Index cols);

/// The rows x cols matrix that is zero but for `a` at (row, col).
Var embed(Var a, Eigen::Index row, Eigen::Index col, Eigen::Index rows, Eigen::Index cols);

}  // namespace hesscope
