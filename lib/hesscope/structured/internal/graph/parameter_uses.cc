// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/autodiff/internal/moved_entries.h>
#include <hesscope/autodiff/internal/product_entries.h>
#include <hesscope/structured/internal/graph/parameter_uses.h>
#include <hesscope/structured/internal/graph/parameter_views.h>
#include <hesscope/structured/internal/graph/use_merging.h>

namespace hesscope::detail {
namespace {

// Limit of the entries of one-hot rows: each is a number for every sample being processed. A model
// with more of them does not benefit from its structure.
constexpr std::int64_t kMostOneHots = 1 << 20;

class UseFinder {
 public:
  UseFinder(const Graph& graph, const EntryNumbers& entries)
      : graph_(graph), nodes_(graph.nodes()), entries_(entries) {}

  ParameterUses find() {
    found_.num_entries = entries_.size();
    mark_needed();
    views_ = parameter_views(graph_, found_.is_needed);
    list_consumers();
    is_own_use_.assign(nodes_.size(), 0);
    while (!try_uses()) {
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (found_.is_needed[i] && nodes_[i].op == Graph::Op::kParameter && is_own_use_[i]) {
        add_own_use(static_cast<int>(i));
      }
    }
    for (ParameterUse& use : found_.uses) move_down(use);
    found_.uses = merged(std::move(found_.uses));
    mark_varying();
    for (ParameterUse& use : found_.uses) {
      use.x_varies = std::ranges::any_of(use.x, [&](int x) {
        const int from = x == kUnitInput ? -1 : entries_.node_of(x);
        return from >= 0 && found_.varies[at(from)];
      });
    }
    return std::move(found_);
  }

 private:
  const Graph::Node& node(int i) const { return nodes_[at(i)]; }

  void mark_needed() {
    found_.is_needed.assign(nodes_.size(), 0);
    found_.is_needed[at(graph_.output())] = 1;
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (!found_.is_needed[i]) continue;
      for (const int operand : {nodes_[i].a, nodes_[i].b, nodes_[i].choice}) {
        if (operand >= 0) found_.is_needed[at(operand)] = 1;
      }
    }
  }

  // For each root node, the nodes that use it or a reshape of it.
  void list_consumers() {
    consumers_.resize(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!found_.is_needed[i] || nodes_[i].op == Graph::Op::kReshape) continue;
      for (const int operand : {nodes_[i].a, nodes_[i].b, nodes_[i].choice}) {
        if (operand >= 0) consumers_[at(entries_.root(operand))].push_back(static_cast<int>(i));
      }
    }
  }

  bool is_view(int i) const { return i >= 0 && views_[at(i)].has_value(); }

  // Whether a view's parameters enter through uses of its consumers.
  bool is_linear(int i) const {
    return is_view(i) && std::none_of(views_[at(i)]->roots.begin(),
                                      views_[at(i)]->roots.end(),
                                      [&](int root) { return is_own_use_[at(root)] != 0; });
  }

  void set_own(int i) {
    for (const int root : views_[at(i)]->roots) is_own_use_[at(root)] = 1;
  }

  // Collects the uses of all consumers; false if a parameter was found not to enter linearly, so
  // that all must be examined again.
  bool try_uses() {
    found_.uses.clear();
    found_.one_hots.clear();
    found_.num_entries = entries_.size();
    bool is_settled = true;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Graph::Node& n = nodes_[i];
      const auto self = static_cast<int>(i);
      if (!found_.is_needed[i]) continue;
      if (is_view(self)) {
        // All parts of a view are linear, or none.
        const bool is_output = self == graph_.output();
        if ((is_output && is_linear(self)) || (!is_linear(self) && has_linear_root(self))) {
          set_own(self);
          is_settled = false;
        }
        continue;
      }
      if (n.is_step()) continue;
      const bool left = is_linear(n.a);
      const bool right = is_linear(n.b);
      if (!left && !right) continue;
      if (left && right ? true : !add_use(self, left)) {
        if (left) set_own(n.a);
        if (right) set_own(n.b);
        is_settled = false;
      }
    }
    return is_settled;
  }

  bool has_linear_root(int i) const {
    const auto& roots = views_[at(i)]->roots;
    return std::any_of(
        roots.begin(), roots.end(), [&](int root) { return is_own_use_[at(root)] == 0; });
  }

  // The use of node i's operand a or b. False if it is not a linear one.
  bool add_use(int i, bool is_left) {
    const Graph::Node& n = node(i);
    const int operand = is_left ? n.a : n.b;
    const int other = is_left ? n.b : n.a;
    const ParameterView& view = *views_[at(operand)];
    const int z = entries_.first(i);
    switch (n.op) {
      case Graph::Op::kMatmul:
        if (has_repeats(view.theta)) return false;
        add_product(i, is_left);
        return true;
      case Graph::Op::kAdd:
      case Graph::Op::kSubtract:
      case Graph::Op::kHadamard:
        return add_elementwise(
            i, operand, other, n.op == Graph::Op::kSubtract && !is_left ? -1 : 1);
      case Graph::Op::kLookup: {
        if (has_repeats(view.theta)) return false;
        const auto table_rows = static_cast<int>(node(n.a).rows);
        const auto units = static_cast<int>(n.cols);
        const auto positions = static_cast<int>(n.rows);
        const std::int64_t num_one_hots = found_.num_entries - entries_.size();
        if (num_one_hots + std::int64_t{positions} * table_rows > kMostOneHots) return false;
        const OneHotRows rows{n.choice, positions, table_rows, found_.num_entries};
        ParameterUse use{
            .positions = positions, .units = units, .inputs = table_rows, .factor = view.factor};
        for (int e = 0; e < positions * units; ++e) use.z.push_back(z + e);
        for (int e = 0; e < positions * table_rows; ++e) use.x.push_back(rows.first + e);
        for (int unit = 0; unit < units; ++unit) {
          for (int k = 0; k < table_rows; ++k)
            use.theta.push_back(view.theta[at(k * units + unit)]);
        }
        found_.num_entries += positions * table_rows;
        found_.one_hots.push_back(rows);
        found_.uses.push_back(std::move(use));
        return true;
      }
      case Graph::Op::kGather:
        return n.b >= 0 && add_joined(i, is_left);
      default:
        return false;
    }
  }

  // W X or X W, or stacks of them.
  void add_product(int i, bool is_left) {
    const Graph::Node& n = node(i);
    const ProductOperand a(n, node(n.a), true);
    const ProductOperand b(n, node(n.b), false);
    const ProductOperand& weights = is_left ? a : b;
    const ProductOperand& inputs = is_left ? b : a;
    const ParameterView& view = *views_[at(is_left ? n.a : n.b)];
    const int rows = a.rows();
    const int cols = b.cols();
    const int z = entries_.first(i);
    const int x = entries_.first(is_left ? n.b : n.a);
    const int positions = is_left ? cols : rows;
    const int num_uses = weights.is_shared ? 1 : weights.stack;
    for (int w = 0; w < num_uses; ++w) {
      ParameterUse use{.positions = 0,
                       .units = is_left ? rows : cols,
                       .inputs = a.cols(),
                       .factor = view.factor};
      const int end = weights.is_shared ? weights.stack : w + 1;
      for (int k = w; k < end; ++k) {
        for (int t = 0; t < positions; ++t) {
          for (int unit = 0; unit < use.units; ++unit) {
            const int r = is_left ? unit : t;
            const int c = is_left ? t : unit;
            use.z.push_back(z + (k * rows + r) * cols + c);
          }
          for (int j = 0; j < use.inputs; ++j) {
            use.x.push_back(x + (is_left ? inputs.entry(k, j, t) : inputs.entry(k, t, j)));
          }
        }
        use.positions += positions;
      }
      for (int unit = 0; unit < use.units; ++unit) {
        for (int j = 0; j < use.inputs; ++j) {
          use.theta.push_back(
              view.theta[at(is_left ? weights.entry(w, unit, j) : weights.entry(w, j, unit))]);
        }
      }
      found_.uses.push_back(std::move(use));
    }
  }

  // A bias or a gain: entry e of node i uses view entry taken(e), -1 for none; for a gain, also
  // entry factor(e) of the other operand. All parameters must be used equally often.
  template <typename Taken, typename Factor>
  bool add_taken(
      int i, const ParameterView& view, double sign, bool is_gain, Taken taken, Factor factor) {
    std::map<int, std::vector<int>> places;  // for each parameter
    for (int e = 0; e < size_of(node(i)); ++e) {
      const int entry = taken(e);
      if (entry >= 0 && view.theta[at(entry)] >= 0) places[view.theta[at(entry)]].push_back(e);
    }
    if (places.empty()) return true;
    const std::size_t positions = places.begin()->second.size();
    ParameterUse use{.positions = static_cast<int>(positions),
                     .units = static_cast<int>(places.size()),
                     .inputs = 1,
                     .factor = sign * view.factor,
                     .is_per_unit = is_gain};
    for (const auto& [theta, taken_by] : places) {
      if (taken_by.size() != positions) return false;
      use.theta.push_back(theta);
    }
    for (std::size_t t = 0; t < positions; ++t) {
      for (const auto& [theta, taken_by] : places) {
        use.z.push_back(entries_.first(i) + taken_by[t]);
        if (is_gain) use.x.push_back(factor(taken_by[t]));
      }
      if (!is_gain) use.x.push_back(kUnitInput);
    }
    found_.uses.push_back(std::move(use));
    return true;
  }

  // A single row, column or number of an operand may be broadcast.
  bool add_elementwise(int i, int operand, int other, double sign) {
    const auto spread = [&](int of, int e) { return spread_entry(node(i), node(of), e); };
    return add_taken(
        i,
        *views_[at(operand)],
        sign,
        node(i).op == Graph::Op::kHadamard,
        [&](int e) { return spread(operand, e); },
        [&](int e) { return entries_.first(other) + spread(other, e); });
  }

  // Parameters among other entries, in a gather from two nodes.
  bool add_joined(int i, bool is_left) {
    const Graph::Node& n = node(i);
    const ParameterView& view = *views_[at(is_left ? n.a : n.b)];
    const int first = is_left ? 0 : size_of(node(n.a));
    return add_taken(
        i,
        view,
        1,
        false,
        [&](int e) {
          const int from = graph_.indices()[at(static_cast<int>(n.offset) + e)] - first;
          return from >= 0 && from < static_cast<int>(view.theta.size()) ? from : -1;
        },
        [](int) { return kUnitInput; });
  }

  void add_own_use(int i) {
    const int size = size_of(node(i));
    ParameterUse use{.positions = 1, .units = size, .inputs = 1, .x = {kUnitInput}};
    for (int e = 0; e < size; ++e) {
      use.z.push_back(entries_.first(i) + e);
      use.theta.push_back(static_cast<int>(node(i).offset) + e);
    }
    found_.uses.push_back(std::move(use));
  }

  // A number added to z can instead be added to the node to which z alone is added or moved: there
  // uses meet.
  void move_down(ParameterUse& use) {
    while (true) {
      const int from = entries_.node_of(use.z.front());
      if (from == graph_.output() || consumers_[at(from)].size() != 1) return;
      const int to = consumers_[at(from)].front();
      const Graph::Node& n = node(to);
      const int size = size_of(node(from));
      if (size_of(n) != size || entries_.root(graph_.output()) == from) return;
      std::vector<int> place(at(size));  // for each entry
      std::iota(place.begin(), place.end(), 0);
      const bool is_left = entries_.root(n.a) == from;
      switch (n.op) {
        case Graph::Op::kAdd:
          break;
        case Graph::Op::kSubtract:
          if (!is_left) use.factor = -use.factor;
          break;
        case Graph::Op::kScale:
          if (n.factor == 0) return;
          use.factor *= n.factor;
          break;
        case Graph::Op::kGather: {
          if (n.b >= 0) return;
          std::fill(place.begin(), place.end(), -1);
          for (int e = 0; e < size; ++e) {
            const int entry = graph_.indices()[at(static_cast<int>(n.offset) + e)];
            if (entry < 0 || place[at(entry)] >= 0) return;
            place[at(entry)] = e;
          }
          break;
        }
        default:
          return;
      }
      for (int& z : use.z) z = entries_.first(to) + place[at(z - entries_.first(from))];
    }
  }

  void mark_varying() {
    found_.varies.assign(nodes_.size(), 0);
    for (const ParameterUse& use : found_.uses) {
      for (const int z : use.z) found_.varies[at(entries_.node_of(z))] = 1;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!found_.is_needed[i] || nodes_[i].is_step()) {
        found_.varies[i] = 0;
        continue;
      }
      const Graph::Op op = nodes_[i].op;
      for (const int operand : {nodes_[i].a, nodes_[i].b}) {
        if (operand >= 0 && found_.varies[at(operand)]) found_.varies[i] = 1;
      }
      if (op == Graph::Op::kLookup && found_.varies[at(nodes_[i].a)]) found_.is_supported = false;
    }
  }

  const Graph& graph_;
  std::span<const Graph::Node> nodes_;
  const EntryNumbers& entries_;
  std::vector<std::optional<ParameterView>> views_;
  std::vector<std::vector<int>> consumers_;
  std::vector<char> is_own_use_;  // for each parameter node
  ParameterUses found_;
};

}  // namespace

ParameterUses find_parameter_uses(const Graph& graph, const EntryNumbers& entries) {
  return UseFinder(graph, entries).find();
}

}  // namespace hesscope::detail
