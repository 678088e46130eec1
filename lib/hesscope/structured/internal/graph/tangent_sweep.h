// SPDX-License-Identifier: BSD-3-Clause
//
// A graph linearised at a point, for kPackSamples samples side by side (a pack), and swept by
// kDirections tangents at once.
//
// Values and adjoints of all nodes, and of each nonlinear one what its derivatives multiply by, are
// computed once for a pack. Sweeps are linear: forwards a tangent dy of each node, backwards the
// tangent of its adjoint, which starts from second derivatives alone,
//   dxbar += (dy/dx)^T dybar + d((dy/dx)^T)[dx] ybar.
// Tangents are seeded in entries of the graph, not in parameters (parameter_uses.h). In memory entry e
// and direction d of a pack begin at double (e * kDirections + d) * kPackSamples.
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

/// Entries of a node, row by row, outside of which something is zero.
struct Interval {
  int begin = 0;
  int end = 0;

  bool is_empty() const { return begin >= end; }
};

/// Where a node's numbers lie, in packs; -1 if they are not kept.
struct SweepNode {
  const Graph::Node* node = nullptr;
  int value = -1;
  int adjoint = -1;
  int tangent = -1;        ///< of the tangents and of their adjoints; -1 for what does not vary
  int coefficient = -1;    ///< first of those that the node needs
  bool is_common = false;  ///< the same for all samples
  const double* common = nullptr;  ///< its entries, where it is and a product takes it
};

/// What a sweep does with a node: where its tangent and the tangent of its adjoint may differ from 0.
struct NodeSweep {
  Interval tangent;
  Interval adjoint;
};

/// Entry `tangent` (of a node's) of direction d gets factor * x, x a value or 1.
struct Seed {
  int node;
  int tangent;
  int direction;
  int x;  ///< pack of the values, -1 for 1
  double factor;
};

/// A pack of samples at a point.
struct PackPoint {
  double* values;
  double* adjoints;
  double* coefficients;
};

/// How many packs a node's derivatives need besides values and adjoints.
int num_coefficients(const Graph::Node& node, std::span<const Graph::Node> nodes);

struct TangentSweep {
  std::span<const SweepNode> nodes;
  std::span<const std::int32_t> indices;  ///< Graph::indices()
  std::span<const NodeSweep> plan;        ///< of each node
  std::span<const Seed> seeds;            ///< by node
  PackPoint point;
  double* tangents;
  double* adjoints;  ///< tangents of adjoints
};

/// Where PointSweep::run() writes the 1 that stands for a lookup.
struct OneHotValues {
  int rows_node;
  int positions;
  int table_rows;
  int value;  ///< first pack
};

struct PointLayout {
  std::span<const SweepNode> nodes;
  std::span<const OneHotValues> one_hots;
  std::span<const char> has_adjoint;  ///< of each node: whether it depends on what carries tangents
};

/// Computes PackPoints. Not safe for concurrent use.
class PointSweep {
 public:
  virtual ~PointSweep();

  virtual void set_theta(std::span<const double> theta) = 0;

  /// The entries of a node that all samples share: first those of SweepNode::common.
  virtual void read_common(int node, double* entries) = 0;

  /// Up to kPackSamples records. Lanes without a sample have adjoints of 0. Returns the sum of the
  /// losses.
  virtual double run(Records records, PackPoint point) = 0;
};

/// Entry (i, t) of a begins at double i * first_stride + t * second_stride; packs of the operands follow
/// each other, those of the result are pack_stride doubles apart.
struct RowMatrix {
  const double* data;
  long first_stride;
  long second_stride;
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
};

struct TangentKernels {
  std::unique_ptr<PointSweep> (*point_sweep)(const Graph& graph, const PointLayout& layout);
  void (*sweep)(const TangentSweep& sweep);
  /// out(i, j) = sum_t a(i, t) b(t, j), summed over terms, where entries are rows of num_packs packs.
  void (*multiply)(const RowProduct& product);
  /// out += the same, of one term.
  void (*add)(const RowProduct& product);
};

const TangentKernels& tangent_kernels(InstructionSet set);

}  // namespace hesscope::detail

HESSCOPE_DECLARE_KERNELS(detail::TangentKernels, tangent_kernels)
