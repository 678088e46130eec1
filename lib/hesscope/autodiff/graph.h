// SPDX-License-Identifier: BSD-3-Clause
//
// A model's forward pass, recorded once.
//
// A model author writes the loss of ONE sample with the operations below; calling them records
// nodes, each a small matrix. The recorded graph is then evaluated with whatever scalar is needed
// (tape.h): doubles give the value and, backwards, the gradient; Jets give blocks of exact Hessian
// columns (forward over reverse); 50-digit numbers give the reference that all others are tested
// against.
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
// have to are written for plain scalars instead (derivatives.h).
//
// Shapes are checked as nodes are recorded; a mismatch throws PreconditionError naming the
// operation.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/core/eigen.h>

namespace hesscope {

class Graph;

/// Elementwise functions, each with its first four derivatives (internal/elementary.h).
///
/// At kinks the slopes follow PyTorch: relu and abs 0 at 0, leaky_relu alpha, elu alpha / beta,
/// clip 1 at both ends. Higher derivatives there are 0, except for elu, which takes those of the
/// left side, and for softsign, which takes 0, 6 and 0. Where a slope is infinite (sqrt at 0) the
/// result is not finite; this is reported, never replaced by a number.
enum class Elementary : std::uint8_t {
  kAbs,
  kAcos,
  kAcosh,
  kAsin,
  kAsinh,
  kAtan,
  kAtanh,
  kClip,  ///< alpha below alpha, beta above beta, x between
  kCos,
  kCosh,
  kElu,  ///< x where x > 0, alpha (exp(x / beta) - 1) elsewhere
  kErf,
  kExp,
  kGelu,       ///< x Phi(alpha x), Phi the normal distribution function (not the fit by tanh)
  kLeakyRelu,  ///< x where x > 0, alpha x elsewhere
  kLog,
  kPower,  ///< x^alpha
  kReciprocal,
  kRelu,     ///< max(x, 0)
  kSigmoid,  ///< 1 / (1 + exp(-x))
  kSin,
  kSinh,
  kSoftplus,  ///< log(1 + exp(x))
  kSoftsign,  ///< x / (1 + |x|)
  kSqrt,
  kSquare,
  kTan,
  kTanh,
  // Steps: constant between jumps, so that no derivative passes through them.
  kCeil,
  kFloor,
  kRound,  ///< to the nearest integer, halves to the even one
  kSign,   ///< -1, 0 or 1
};

/// Whether the function is a step function.
bool is_step(Elementary function);

/// Whether its second derivative is 0 wherever it exists.
bool is_piecewise_linear(Elementary function);

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
    kDivide,
    kMatmul,
    kElementary,
    kSoftmaxRows,
    kStandardizeRows,
    kLogSumExpRows,
    kCrossEntropyRows,
    kSquaredDistances,
    kSum,
    kSumRows,
    kMaxRows,
    kSlice,
    kEmbed,
    kReshape,
    kGather,
    kSelect,
    kLookup,
    kLess,
    kEqual,
  };

  struct Node {
    Op op;
    Elementary function = Elementary::kAbs;  ///< kElementary
    bool transpose_a = false;                ///< kMatmul
    bool transpose_b = false;                ///< kMatmul
    bool is_shared_a = false;                ///< kMatmul: one matrix for the whole stack
    bool is_shared_b = false;                ///< kMatmul
    bool is_centred = true;                  ///< kStandardizeRows: whether means are subtracted
    std::int32_t a = -1;                     ///< operands: earlier nodes, -1 if none
    std::int32_t b = -1;
    std::int32_t choice = -1;  ///< kSelect: where to take a; kLookup: which rows. Not varies().
    Eigen::Index rows = 0;
    Eigen::Index cols = 0;
    /// First entry: in theta (kParameter), in the sample record (kInput), in constants()
    /// (kConstant), in indices() (kGather).
    Eigen::Index offset = 0;
    Eigen::Index row = 0;  ///< kSlice, kEmbed: position of the smaller matrix in the larger
    Eigen::Index col = 0;
    Eigen::Index stack = 1;  ///< kMatmul: number of products, one below the other
    double factor = 1;       ///< kScale; kElementary: alpha; kStandardizeRows: epsilon
    double beta = 0;         ///< kElementary

    Eigen::Index size() const { return rows * cols; }

    /// The operands; -1 for absent ones.
    std::array<std::int32_t, 3> operands() const { return {a, b, choice}; }

    /// Whether no derivative passes through the node: true for comparisons and steps.
    bool is_step() const {
      return op == Op::kLess || op == Op::kEqual ||
             (op == Op::kElementary && hesscope::is_step(function));
    }
  };

  /// The parameters theta[offset, offset + rows * cols) as a matrix, row-major.
  Var parameter(Eigen::Index offset, Eigen::Index rows, Eigen::Index cols);

  /// Entries of a sample's data record as a matrix, row-major.
  Var input(Eigen::Index offset, Eigen::Index rows, Eigen::Index cols);

  Var constant(const Eigen::Ref<const Eigen::MatrixXd>& value);

  /// The same from its rows * cols entries, row by row.
  Var constant(std::span<const double> entries, Eigen::Index rows, Eigen::Index cols);

  /// Declares the 1 x 1 loss of a sample. @throws PreconditionError if it has another shape or,
  /// once a prediction is declared, depends on a parameter other than through it.
  void set_output(Var loss);

  /// Declares the model's prediction for a sample, a matrix z: the loss depends on the parameters
  /// only through z. This defines the Gauss-Newton matrix (curvature.h); z shifted by data serves
  /// equally well. @throws PreconditionError if an output is already declared and depends on a
  /// parameter in another way.
  void set_prediction(Var z);

  std::span<const Node> nodes() const { return {nodes_.data(), nodes_.size()}; }

  std::span<const double> constants() const { return {constants_.data(), constants_.size()}; }

  /// The indices of the kGather nodes, one list after the other.
  std::span<const std::int32_t> indices() const { return {indices_.data(), indices_.size()}; }

  /// Whether a change of the parameters changes the node other than by jumps. @throws
  /// PreconditionError for a node of another graph.
  bool varies(Var a) const;

  /// The value of a kConstant node, or of reshapes of one, row by row; empty for others. @throws
  /// PreconditionError for a node of another graph.
  std::span<const double> constant_value(Var a) const;

  std::int32_t output() const { return output_; }

  /// The prediction's node, -1 if none was declared.
  std::int32_t prediction() const { return prediction_; }

  /// One past the largest parameter index used.
  Eigen::Index num_parameters() const { return num_parameters_; }

  /// One past the largest record entry used.
  Eigen::Index record_size() const { return record_size_; }

  /// The maximal number of entries of a node.
  static constexpr Eigen::Index kMaxEntries = INT32_MAX;

  /// Freezes the graph: from now on, whatever would change it throws PreconditionError, also
  /// through a Var. A copy can be changed again.
  void finish() { is_finished_.value = true; }

  /// Records an operation like the functions below, whose messages explain better what does not
  /// fit.
  /// @throws PreconditionError for an operand that is not an earlier node, a shape with fewer than
  ///         one or more than kMaxEntries entries, operands or a position that do not fit the
  ///         operation, and for targets or a choice that vary with the parameters.
  Var record(const Node& node);

  /// Stores the indices of a kGather node; returns their offset.
  Eigen::Index keep_indices(std::span<const std::int32_t> indices);

 private:
  // A flag that becomes false in a copy.
  struct OwnFlag {
    bool value = false;

    OwnFlag() = default;

    OwnFlag(const OwnFlag& /*other*/) {}

    OwnFlag& operator=(const OwnFlag& /*other*/) { return *this; }
  };

  void require_unfinished(const char* operation) const;

  OwnFlag is_finished_;
  std::vector<Node> nodes_;
  std::vector<bool> varies_;           ///< of each node
  std::vector<double> constants_;      ///< row-major values of the kConstant nodes
  std::vector<std::int32_t> indices_;  ///< of the kGather nodes
  std::int32_t output_ = -1;
  std::int32_t prediction_ = -1;
  Eigen::Index num_parameters_ = 0;
  Eigen::Index record_size_ = 0;
};

// Operands of elementwise operations have the same shape, or one of them has one row, one column or
// both, which is then broadcast to the other's size.
//
// Functions spelled out with exponentials are recorded as a single function, whose derivatives stay
// in the range of double even if squares of exponentials do not: 1 / (1 + exp(-x)), exp(x) / (1 +
// exp(x)), log(1 + exp(x)), and for rows exp(x) / sum(exp(x)), log(sum(exp(x))) and
// log(softmax(x)).

Var operator+(Var a, Var b);
Var operator-(Var a, Var b);
Var operator-(Var a);
Var operator*(double factor, Var a);
Var operator/(Var a, Var b);

/// Elementwise product.
Var hadamard(Var a, Var b);

Var matmul(Var a, Var b);     ///< A B
Var matmul_nt(Var a, Var b);  ///< A B^T
Var matmul_tn(Var a, Var b);  ///< A^T B

/// How stacked_matmul() interprets its operands.
struct StackedProduct {
  Eigen::Index stack = 1;    ///< number of products
  bool transpose_a = false;  ///< each A
  bool transpose_b = false;
  bool is_shared_a = false;  ///< a is one matrix, the same in each product
  bool is_shared_b = false;
};

/// A_1 B_1, ..., A_s B_s stacked vertically; A_1, ..., A_s and B_1, ..., B_s are stacked likewise.
Var stacked_matmul(Var a, Var b, const StackedProduct& product);

/// @param alpha, beta  for functions that have them.
Var elementary(Elementary function, Var a, double alpha = 1, double beta = 0);
Var abs(Var a);
Var cos(Var a);
Var erf(Var a);
Var exp(Var a);
Var gelu(Var a);
Var log(Var a);
Var power(Var a, double exponent);
Var reciprocal(Var a);
Var relu(Var a);
Var sigmoid(Var a);
Var sin(Var a);
Var softplus(Var a);
Var sqrt(Var a);
Var square(Var a);
Var tanh(Var a);

/// exp(a_ij) / sum_k exp(a_ik), computed with each row's maximum subtracted.
Var softmax_rows(Var a);

/// (a_ij - m_i) / sqrt(v_i + epsilon), with m_i = mean_j a_ij and v_i = mean_j (a_ij - m_i)^2:
/// layer normalisation (Ba, Kiros, Hinton 2016, eq. 4) without gain and bias. A single operation
/// instead of eight, and equally exact. @throws PreconditionError unless epsilon is finite and at
/// least 0.
Var standardize_rows(Var a, double epsilon);

/// a_ij / sqrt(mean_k a_ik^2 + epsilon): normalisation by the root mean square (Zhang, Sennrich
/// 2019, eq. 4) without gain. Otherwise like standardize_rows().
Var rms_normalize_rows(Var a, double epsilon);

/// log sum_j exp(a_ij) for each row i, as a column, computed with the row's maximum subtracted.
Var log_sum_exp_rows(Var a);

/// log sum_ij exp(a_ij), 1 x 1.
Var log_sum_exp(Var a);

/// sum_j t_ij (log sum_k exp(z_ik) - z_ij) for each row i, as a column, accurate even if tiny. If
/// the targets are probabilities or classes, this is -log softmax(z) at the target. Rows may be
/// weighted, or 0 if they do not count. The targets must not depend on parameters, and have z's
/// shape.
Var cross_entropy_rows(Var z, Var targets);

/// -log softmax(z)_t, 1 x 1, for a column z and a one-hot column `target`, t being the index with
/// target_t = 1.
Var cross_entropy(Var z, Var target);

/// D_ij = ||a_i - b_j||^2 over rows i of a and j of b, without cancellation.
Var squared_distances(Var a, Var b);

/// Sum of all entries, 1 x 1.
Var sum(Var a);

/// The sum of each row, as a column.
Var sum_rows(Var a);

/// The largest entry of each row, as a column. Among equal entries the first one counts, and it
/// alone has a slope.
Var max_rows(Var a);

/// The rows x cols part of `a` that starts at (row, col).
Var slice(Var a, Eigen::Index row, Eigen::Index col, Eigen::Index rows, Eigen::Index cols);

/// The rows x cols matrix that is zero except for `a` at (row, col).
Var embed(Var a, Eigen::Index row, Eigen::Index col, Eigen::Index rows, Eigen::Index cols);

/// The same entries in the same order (row by row) in another shape. Costs nothing.
Var reshape(Var a, Eigen::Index rows, Eigen::Index cols);

/// Entry e of the result, counted row by row, is entry indices[e] of a; 0 if that index is -1.
Var gather(Var a, std::span<const std::int32_t> indices, Eigen::Index rows, Eigen::Index cols);

/// The same, taking from a's entries followed by b's.
Var gather(
    Var a, Var b, std::span<const std::int32_t> indices, Eigen::Index rows, Eigen::Index cols);

/// a where `condition` is not 0, b elsewhere; all three have the same shape. The branch not taken
/// has no slope and may be infinite; if its own slope is infinite (sqrt at 0), derivatives may be
/// NaN. The condition must not vary with the parameters except by jumps.
Var select(Var condition, Var a, Var b);

/// Row i of the result is row k_i of the table; `rows` is a column of whole numbers k_i, such as
/// word indices, that do not vary with the parameters. NaN if the table has no such row.
Var lookup(Var table, Var rows);

/// 1 where a < b, 0 elsewhere.
Var less(Var a, Var b);

/// 1 where a = b, 0 elsewhere.
Var equal(Var a, Var b);

}  // namespace hesscope
