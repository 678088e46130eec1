// SPDX-License-Identifier: BSD-3-Clause
//
// A graph linearised at a point, for kPackSamples samples side by side (a pack), and traversed by
// kDirections tangents at once.
//
// The values and adjoints of all nodes, and the coefficients of the derivatives of nonlinear ones,
// are computed once for a pack. Sweeps are linear: they compute forwards a tangent dy of each node,
// and backwards the tangent of its adjoint, which starts from second derivatives alone,
//   dxbar += (dy/dx)^T dybar + d((dy/dx)^T)[dx] ybar.
// Tangents are seeded in entries of the graph, not in parameters (parameter_uses.h). A sweep
// processes a part of a pack, as many samples as a register holds: if two parts make a pack, this
// halves what a cache must hold. In memory, direction d of entry e begins at register e *
// kEntryStride + d. An entry has one register more than directions; otherwise rows of eight and
// sixteen entries would be powers of two apart and share the same few lines of a cache.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/simd/internal/dispatch.h>
#include <hesscope/simd/internal/pack_kernels.h>

namespace hesscope::detail {

inline constexpr int kDirections = 8;
inline constexpr int kEntryStride = kDirections + 1;

/// Entries of a node, row by row, outside of which something is zero.
struct Interval {
  int begin = 0;
  int end = 0;

  bool is_empty() const { return begin >= end; }
};

inline int length(Interval x) { return x.is_empty() ? 0 : x.end - x.begin; }

inline Interval common_part(Interval a, Interval b) {
  return {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
}

/// The smallest interval that contains both.
inline Interval hull(Interval a, Interval b) {
  if (a.is_empty()) return b;
  if (b.is_empty()) return a;
  return {a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

/// Derivatives of y = f(a, b), one entry each: f_a, f_b, f_aa, f_ab, f_bb.
inline constexpr int kNumDerivatives = 5;

/// Which of them may be nonzero.
struct Derivatives {
  bool has[kNumDerivatives] = {};

  /// How many of the kinds before `kind` it has; for kNumDerivatives, the total.
  int count_before(int kind) const {
    int count = 0;
    for (int before = 0; before < kind; ++before) count += has[before] ? 1 : 0;
    return count;
  }
};

/// The derivative with respect to operands `which` and `other`, 0 for a and 1 for b.
inline constexpr int second_derivative(int which, int other) { return 2 + which + other; }

/// Where a node's numbers are stored, in packs; -1 if they are not kept. Nodes whose tangents are
/// not needed at the same time may share a place.
struct SweepNode {
  const Graph::Node* node = nullptr;
  int root = -1;  ///< EntryNumbers::root()
  int value = -1;
  int adjoint = -1;
  int tangent = -1;              ///< in entries of the tangents; -1 if it does not vary
  int tangent_bar = -1;          ///< the same for the tangents of adjoints
  int coefficient = -1;          ///< first of those that the node needs
  Derivatives derivatives = {};  ///< of an elementwise node
  bool is_common = false;        ///< the same for all samples
  bool is_chain = false;         ///< the last node of an ElementwiseChain
  bool is_part = false;  ///< its tangents lie in its operand's: a slice (split_parts.h), or all
  const double* common = nullptr;  ///< its entries, if common and used by a product
};

/// What a sweep does with a node: where its tangent and the tangent of its adjoint may be nonzero.
struct NodeSweep {
  Interval tangent;
  Interval adjoint;
};

/// Entry `tangent` (of a node's tangents) gets factor * x in direction d; x is a value or 1.
struct Seed {
  int node;
  int tangent;
  int direction;
  int x;  ///< pack of the values; -1 for 1
  double factor;
};

/// A pack of samples at a point.
struct PackPoint {
  double* values;
  double* adjoints;
  double* coefficients;
};

/// How many packs a node's derivatives need in addition to values and adjoints.
int num_coefficients(const Graph::Node& node,
                     const Derivatives& derivatives,
                     std::span<const Graph::Node> nodes);

struct TangentSweep {
  std::span<const SweepNode> nodes;
  std::span<const std::int32_t> indices;  ///< Graph::indices()
  std::span<const NodeSweep> plan;        ///< for each node
  std::span<const Seed> seeds;            ///< by node
  PackPoint point;
  int part;  ///< of the pack
  double* tangents;
  double* adjoints;  ///< tangents of adjoints
  char* is_begun;    ///< scratch, for each node
};

/// Where PointSweep::run() writes the 1 that represents a lookup.
struct OneHotValues {
  int rows_node;
  int positions;
  int table_rows;
  int value;  ///< first pack
};

/// Nodes that form one elementwise function of a, or of a and b (sweep_graph.h).
struct ElementwiseChain {
  int a;                       ///< has the others' shape; may be a reshape of its root
  int b;                       ///< the same; -1 if there is none
  std::span<const int> nodes;  ///< in order, without reshapes; the last is the function's value
  std::span<const Derivatives> derivatives;  ///< of each node, by a and b
};

struct PointLayout {
  std::span<const SweepNode> nodes;
  std::span<const OneHotValues> one_hots;
  std::span<const char> has_adjoint;  ///< of each node: whether it depends on what carries tangents
  std::span<const ElementwiseChain> chains;  ///< their last nodes have the functions' coefficients
};

/// Computes values, adjoints and coefficients of packs. Not safe for concurrent use.
class PointSweep {
 public:
  virtual ~PointSweep();

  virtual void set_theta(std::span<const double> theta) = 0;

  /// The entries of a node that all samples share: to be used as SweepNode::common.
  virtual void read_common(int node, double* entries) = 0;

  /// Processes up to kPackSamples records. Lanes without a sample have adjoints of 0. Returns the
  /// sum of the losses.
  virtual double run(Records records, PackPoint point) = 0;
};

/// Entry (i, t) of pack p begins at double i * first_stride + t * second_stride + p * pack_stride.
struct RowMatrix {
  const double* data;
  long first_stride;
  long second_stride;
  long pack_stride = kPackSamples;

  RowMatrix transposed() const { return {data, second_stride, first_stride, pack_stride}; }
};

struct RowTerm {
  RowMatrix a;
  RowMatrix b;
  int inner;
};

struct RowProduct {
  double* out;
  long out_first_stride;
  long out_second_stride;
  long out_pack_stride;
  RowTerm terms[2];
  int num_terms;
  int rows;
  int cols;
  int num_packs;
  /// Whether only the entries (i, i) are needed; there are then as many columns as rows.
  bool is_diagonal = false;
};

/// Positions at which a line of tangents, and its numbers in panels or packs, are stored at fixed
/// steps.
struct DirectionTerm {
  const double* tangents;  ///< the first position's entry
  long entry_step;         ///< entries from one position to the next
  const double* numbers;   ///< at the first position, from the part's first sample on
  int positions;
};

/// out(d, c) += sum over terms, their positions t and the samples of a part of tangents(t, d)
/// panel(t, c), for all directions; out(d, c) at out[d * out_stride + c], where columns up to the
/// next multiple of kPackSamples may be overwritten.
struct DirectionSum {
  double* out;
  long out_stride;
  std::span<const DirectionTerm> terms;  ///< numbers: panels of kPanelCols columns (pack_kernels.h)
  long first_panel;                      ///< doubles from a term's numbers to the current panels
  long panel_step;                       ///< doubles from one position's to the next
  int num_cols;
};

/// out[d] += sum over positions t and the samples of a part of tangents(t, d) x(t).
struct DirectionDots {
  double* out;
  DirectionTerm term;
  long x_step;  ///< packs from one position's numbers to the next
};

struct TangentKernels {
  int lanes;  ///< samples per part
  std::unique_ptr<PointSweep> (*point_sweep)(const Graph& graph, const PointLayout& layout);
  void (*sweep)(const TangentSweep& sweep);
  /// out(i, j) = sum_t a(i, t) b(t, j), summed over terms; entries are rows of num_packs packs, the
  /// same number in each product.
  void (*multiply)(std::span<const RowProduct> products);
  void (*add_sums)(const DirectionSum& sum);
  void (*add_dots)(const DirectionDots& dots);

  /// Doubles for the tangents of so many entries.
  long entries_size(long count) const { return count * kEntryStride * lanes; }
};

const TangentKernels& tangent_kernels(InstructionSet set);

}  // namespace hesscope::detail

HESSCOPE_DECLARE_KERNELS(detail::TangentKernels, tangent_kernels)
