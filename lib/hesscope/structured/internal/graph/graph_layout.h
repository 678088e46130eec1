// SPDX-License-Identifier: BSD-3-Clause
//
// The memory layout of the numbers used by graph_hessian.h.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <hesscope/structured/internal/graph/entry_slots.h>
#include <hesscope/structured/internal/graph/parameter_uses.h>
#include <hesscope/structured/internal/graph/sweep_graph.h>
#include <hesscope/structured/internal/graph/tangent_sweep.h>

namespace hesscope::detail {

/// Rows of a chunk's numbers: row (t, k) for position t is first + t * width + k.
struct RowBlock {
  int first = -1;
  int positions = 0;
  int width = 0;

  bool is_empty() const { return first < 0; }

  int row(int t, int k) const { return first + t * width + k; }
};

/// The rows of one use. Uses of the same x share its rows.
struct UseRows {
  RowBlock z;         ///< of z[t,i], in the adjoints' rows
  RowBlock x;         ///< of x[t,j] or x[t,i], in the values' rows
  int tangents = -1;  ///< index in tangent_blocks() for x; -1 if it does not vary
};

/// Packs of samples at a point, and the rows of samples made from them: a row holds the numbers of
/// one entry in all packs of a chunk.
class GraphLayout {
 public:
  GraphLayout(const SweepGraph& graph, const EntryNumbers& entries, const ParameterUses& uses);

  std::span<const SweepNode> nodes() const { return nodes_; }

  std::span<const OneHotValues> one_hots() const { return one_hots_; }

  /// The pack of the value of an entry, which must be used.
  int value_of(const EntryNumbers& entries, int entry) const;

  /// The nodes with `common` pointing into these entries, node by node, for the nodes listed for
  /// read_common().
  std::vector<SweepNode> with_common(std::span<const double> common) const;

  void read_common(PointSweep& point, std::span<double> common) const;

  int common_size() const { return common_size_; }

  // Packs of a PackPoint.
  int num_values() const { return num_values_; }

  int num_adjoints() const { return num_adjoints_; }

  int num_coefficients() const { return num_coefficients_; }

  /// Number of entries of the tangents, and of the tangents of adjoints.
  int num_tangents() const { return tangents_.size(); }

  int num_tangent_bars() const { return tangent_bars_.size(); }

  const UseRows& rows(int use) const { return rows_[static_cast<std::size_t>(use)]; }

  /// For a row: the entry of the graph, its pack in a PackPoint, its entry of the tangents or of
  /// the tangents of adjoints; -1 if there is none.
  struct Source {
    int entry;
    int point;
    int tangent;
  };

  /// For z: adjoints, and tangents of adjoints.
  std::span<const Source> z_rows() const { return z_rows_; }

  /// For x: values; a point of -1 stands for the value 1.
  std::span<const Source> value_rows() const { return value_rows_; }

  /// For x that varies at least in part: tangents, 0 where there is none.
  std::span<const Source> tangent_rows() const { return tangent_rows_; }

  std::span<const RowBlock> tangent_blocks() const { return tangent_blocks_; }

 private:
  void place_nodes(const SweepGraph& graph, const EntryNumbers& entries, const ParameterUses& uses);
  void place_tangents(const SweepGraph& graph,
                      const EntryNumbers& entries,
                      const ParameterUses& uses);
  void place_rows(const EntryNumbers& entries, const ParameterUses& uses);

  std::vector<SweepNode> nodes_;
  std::vector<int> common_first_;  // for each node; -1
  std::vector<OneHotValues> one_hots_;
  std::vector<int> one_hot_values_;  // first packs of the rows that represent lookups, by entry
  std::vector<UseRows> rows_;
  std::vector<Source> z_rows_;
  std::vector<Source> value_rows_;
  std::vector<Source> tangent_rows_;
  std::vector<RowBlock> tangent_blocks_;
  int common_size_ = 0;
  int num_values_ = 0;
  int num_adjoints_ = 0;
  int num_coefficients_ = 0;
  EntrySlots tangents_;
  EntrySlots tangent_bars_;
};

}  // namespace hesscope::detail
