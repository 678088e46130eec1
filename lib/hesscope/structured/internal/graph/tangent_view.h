// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: access to the numbers of a sweep by node.
#pragma once

#include <hesscope/structured/internal/graph/tangent_entries.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

class SweepView {
 protected:
  explicit SweepView(const TangentSweep& s) : s_(s), num_nodes_(static_cast<int>(s.nodes.size())) {}

  // op(operand) of one product of a stack, or its result.
  struct Matrix {
    int rows;
    int cols;
    int row_stride;  // in entries
    int col_stride;
    int first;           // entry
    Interval live_rows;  // zero outside
    Interval live_cols;

    bool is_zero() const { return live_rows.is_empty() || live_cols.is_empty(); }
  };

  const SweepNode& kept(int i) const { return s_.nodes[static_cast<std::size_t>(i)]; }

  const Node& node(int i) const { return *kept(i).node; }

  const detail::NodeSweep& plan(int i) const { return s_.plan[static_cast<std::size_t>(i)]; }

  Lane* tangent(int i) const { return lanes(s_.tangents) + long{kept(i).tangent} * kEntry; }

  Lane* adjoint(int i) const { return lanes(s_.adjoints) + long{kept(i).tangent_bar} * kEntry; }

  // For the current part: entry e at [e * kParts].
  const Lane* value(int i) const { return packs(s_.point.values, kept(i).value); }

  const Lane* bar(int i) const { return packs(s_.point.adjoints, kept(i).adjoint); }

  const Lane* coefficient(int i) const { return packs(s_.point.coefficients, kept(i).coefficient); }

  const Lane* packs(const double* data, int first) const {
    return lanes(data) + long{first} * kParts + s_.part;
  }

  bool has_tangent(int i) const { return i >= 0 && !plan(i).tangent.is_empty(); }

  bool has_adjoint(int i) const { return i >= 0 && !plan(i).adjoint.is_empty(); }

  // Step functions and nodes not needed by the output have neither tangents nor coefficients.
  bool varies(int i) const { return kept(i).tangent_bar >= 0; }

  static bool contains(Interval a, Interval b) { return a.begin <= b.begin && a.end >= b.end; }

  static bool is_in(Interval a, int e) { return e >= a.begin && e < a.end; }

  bool is_same_shape(int i, int j) const {
    return node(i).rows == node(j).rows && node(i).cols == node(j).cols;
  }

  // To be called before adding to the adjoint of node o: whether this is the first addition.
  bool begins(int o) const {
    char& is_begun = s_.is_begun[kept(o).root];
    const bool is_first = is_begun == 0;
    is_begun = 1;
    return is_first;
  }

  // The same for an operation that writes all entries of `written`: true if it is the first and
  // writes all existing entries, so that it has to assign; entries that it does not write are
  // cleared.
  bool is_to_assign(int o, Interval written) const {
    if (!begins(o)) return false;
    const Interval own = plan(o).adjoint;
    if (contains(written, own)) return true;
    clear(adjoint(o) + own.begin * kEntry, own.end - own.begin);
    return false;
  }

  // The same for an operation that writes only some entries.
  void prepare_to_add(int o) const { is_to_assign(o, {}); }

  static Interval rows_of(Interval entries, int cols) {
    return {entries.begin / cols, (entries.end + cols - 1) / cols};
  }

  // Calls visit(entry, entry of the operand) for the entries of node i in `out` whose operand entry
  // is in `live`; a single row, column or number of the operand may be broadcast.
  template <typename F>
  void for_spread(int i, int operand, Interval out, Interval live, F visit) const {
    const Node& n = node(i);
    const Node& o = node(operand);
    if (is_same_shape(i, operand)) {
      const Interval both = common_part(out, live);
      for (int e = both.begin; e < both.end; ++e) visit(e, e);
      return;
    }
    const auto cols = static_cast<int>(n.cols);
    const int row_step = o.rows == 1 ? 0 : static_cast<int>(o.cols);
    const int col_step = o.cols == 1 ? 0 : 1;
    for (int e = out.begin; e < out.end;) {  // row by row: a division takes as long as a visit
      const int row = e / cols;
      const int end = (row + 1) * cols < out.end ? (row + 1) * cols : out.end;
      int from = row * row_step + (e - row * cols) * col_step;
      for (; e < end; ++e, from += col_step) {
        if (from >= live.begin && from < live.end) visit(e, from);
      }
    }
  }

  // The entry of an operand that entry e of node i uses.
  int spread(int i, int operand, int e) const {
    const Node& n = node(i);
    const Node& o = node(operand);
    const auto cols = static_cast<int>(n.cols);
    return (o.rows == 1 ? 0 : e / cols * static_cast<int>(o.cols)) + (o.cols == 1 ? 0 : e % cols);
  }

  // The factor by which the tangent of each entry of a node is multiplied.
  class Factor {
   public:
    Factor() = default;

    explicit Factor(double number) : number_(Lane{} + number) {}

    // A separate factor for each entry.
    explicit Factor(const Lane* values) : values_(values) {}

    // The value of the operand's entry that each entry uses.
    Factor(const Lane* values, const Node& node, const Node& operand) : values_(values) {
      if (node.rows == operand.rows && node.cols == operand.cols) return;
      cols_ = static_cast<int>(node.cols);
      row_step_ = operand.rows == 1 ? 0 : static_cast<int>(operand.cols);
      col_step_ = operand.cols == 1 ? 0 : 1;
    }

    // The factors of entries from e on, up to `end` or the beginning of the next row, to which
    // `end` is then set: that of entry e + k is at [k * step].
    struct Run {
      const Lane* first;
      int step;
    };

    Run run_from(int e, int& end) const {
      if (values_ == nullptr) return {&number_, 0};
      if (cols_ == 0) return {values_ + e * kParts, kParts};
      const int row = e / cols_;
      const int row_end = (row + 1) * cols_;
      if (row_end < end) end = row_end;
      return {values_ + (row * row_step_ + (e - row * cols_) * col_step_) * kParts,
              col_step_ * kParts};
    }

    Lane operator()(int e) const {
      int end = e + 1;
      return *run_from(e, end).first;
    }

   private:
    Lane number_ = {};
    const Lane* values_ = nullptr;
    int cols_ = 0;  // of the node, if the operand has another shape
    int row_step_ = 0;
    int col_step_ = 0;
  };

  const TangentSweep& s_;
  int num_nodes_;
};

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
