// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <numeric>

#include <hesscope/structured/internal/graph/direction_blocks.h>
#include <hesscope/structured/internal/graph/indexing.h>

namespace hesscope::detail {
namespace {

Interval hull(Interval a, Interval b) {
  if (a.is_empty()) return b;
  if (b.is_empty()) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

Interval rows_of(Interval entries, Eigen::Index cols) {
  const auto c = static_cast<int>(cols);
  return {entries.begin / c, (entries.end + c - 1) / c};
}

Interval times(Interval rows, Eigen::Index cols) {
  const auto c = static_cast<int>(cols);
  return {rows.begin * c, rows.end * c};
}

// Whether the derivative of the node with respect to `operand` depends on anything that varies.
bool is_bent(const Graph::Node& node, int operand, std::span<const char> varies) {
  const int other = node.a == operand ? node.b : node.a;
  switch (node.op) {
    case Graph::Op::kElementary:
    case Graph::Op::kSoftmaxRows:
    case Graph::Op::kLogSumExpRows:
    case Graph::Op::kCrossEntropyRows:
    case Graph::Op::kSquaredDistances:
      return true;
    case Graph::Op::kDivide:
      return operand == node.b || varies[at(node.b)] != 0;
    case Graph::Op::kHadamard:
    case Graph::Op::kMatmul:
      return other == operand || varies[at(other)] != 0;
    default:
      return false;
  }
}

class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  int find(int i) {
    while (parent_[at(i)] != i) i = parent_[at(i)] = parent_[at(parent_[at(i)])];
    return i;
  }

  void join(int i, int j) { parent_[at(find(i))] = find(j); }

 private:
  std::vector<int> parent_;
};

}  // namespace

DirectionPlanner::DirectionPlanner(const Graph& graph,
                                   const EntryNumbers& entries,
                                   const ParameterUses& uses,
                                   std::span<const SweepNode> nodes,
                                   std::span<const int> one_hot_values)
    : graph_(graph),
      nodes_(graph.nodes()),
      entries_(entries),
      uses_(uses),
      kept_(nodes),
      one_hot_values_(one_hot_values),
      alignment_(nodes_.size(), 1),
      needs_tangent_(nodes_.size(), 0),
      is_read_(nodes_.size(), 0) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    int& alignment = alignment_[at(entries_.root(static_cast<int>(i)))];
    const int size = size_of(nodes_[i]);
    alignment = std::min(size, std::lcm(alignment, static_cast<int>(nodes_[i].cols)));
    if (size % alignment != 0) alignment = size;
  }
  find_groups();
  find_needs();
  for (int g = 0; g < static_cast<int>(groups_.size()); ++g) choose_directions(g);
  find_fed();
}

void DirectionPlanner::find_fed() {
  is_fed_.assign(uses_.uses.size() * groups_.size(), 0);
  for (const DirectionBlock& block : blocks_) {
    for (std::size_t u = 0; u < uses_.uses.size(); ++u) {
      char& is_fed = is_fed_[u * groups_.size() + at(block.group)];
      if (is_fed) continue;
      const auto& x = uses_.uses[u].x;
      is_fed = std::any_of(x.begin(), x.end(), [&](int entry) {
        return entry != kOne && is_in(block, entry, false);
      });
    }
  }
}

void DirectionPlanner::find_groups() {
  const std::size_t count = uses_.uses.size();
  DisjointSets sets(count);
  std::vector<int> user_of_theta(at(static_cast<int>(graph_.num_parameters())), -1);
  std::vector<int> user_of_entry(at(entries_.size()), -1);
  std::vector<char> repeats(count, 0);
  for (int u = 0; u < static_cast<int>(count); ++u) {
    const ParameterUse& use = uses_.uses[at(u)];
    const auto join = [&](int& user, bool is_theta) {
      if (user >= 0 && user != u) {
        sets.join(u, user);
        if (is_theta) repeats[at(u)] = 1;
      }
      user = u;
    };
    for (const int theta : use.theta) {
      if (theta >= 0) join(user_of_theta[at(theta)], true);
    }
    for (const int z : use.z) join(user_of_entry[at(z)], false);
  }
  std::vector<int> first_entry(count, entries_.size());  // of each set
  for (int u = 0; u < static_cast<int>(count); ++u) {
    const auto& z = uses_.uses[at(u)].z;
    int& first = first_entry[at(sets.find(u))];
    first = std::min(first, *std::min_element(z.begin(), z.end()));
  }
  std::vector<int> roots;
  for (int u = 0; u < static_cast<int>(count); ++u) {
    if (sets.find(u) == u) roots.push_back(u);
  }
  std::sort(roots.begin(), roots.end(), [&](int a, int b) {
    return first_entry[at(a)] < first_entry[at(b)];
  });
  for (const int root : roots) {
    UseGroup group;
    for (int u = 0; u < static_cast<int>(count); ++u) {
      if (sets.find(u) != root) continue;
      group.uses.push_back(u);
      if (repeats[at(u)]) group.has_repeats = true;
    }
    groups_.push_back(std::move(group));
  }
}

void DirectionPlanner::find_needs() {
  last_group_.assign(nodes_.size(), -1);
  for (int g = 0; g < static_cast<int>(groups_.size()); ++g) {
    for (const int u : groups_[at(g)].uses) {
      for (const int z : uses_.uses[at(u)].z) {
        last_group_[at(entries_.node_of(z))] = g;
        is_read_[at(entries_.node_of(z))] = 1;
      }
      for (const int x : uses_.uses[at(u)].x) {
        const int node = x == kOne ? -1 : entries_.node_of(x);
        if (node >= 0) needs_tangent_[at(node)] = is_read_[at(node)] = 1;
      }
    }
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!uses_.varies[i]) continue;
    for (const int operand : {nodes_[i].a, nodes_[i].b}) {
      if (operand >= 0) last_group_[i] = std::max(last_group_[i], last_group_[at(operand)]);
    }
  }
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    if (!uses_.varies[i]) continue;
    if (nodes_[i].op == Graph::Op::kSoftmaxRows) needs_tangent_[i] = 1;  // its own, on the way back
    for (const int operand : {nodes_[i].a, nodes_[i].b}) {
      if (operand >= 0 && (needs_tangent_[i] || is_bent(nodes_[i], operand, uses_.varies))) {
        needs_tangent_[at(operand)] = 1;
      }
    }
  }
}

// Of units in eights, of each eight position by position: what a block of them reaches is near.
std::vector<int> DirectionPlanner::site_directions(const UseGroup& group) const {
  std::vector<int> directions;
  std::vector<char> is_there(at(entries_.size()), 0);
  for (const int u : group.uses) {
    const ParameterUse& use = uses_.uses[at(u)];
    for (int unit = 0; unit < use.units; unit += kDirections) {
      for (int t = 0; t < use.positions; ++t) {
        for (int i = unit; i < std::min(unit + kDirections, use.units); ++i) {
          const int z = use.z[at(t * use.units + i)];
          if (!is_there[at(z)]) directions.push_back(z);
          is_there[at(z)] = 1;
        }
      }
    }
  }
  return directions;
}

std::vector<int> DirectionPlanner::parameter_directions(const UseGroup& group) const {
  std::vector<int> directions;
  for (const int u : group.uses) {
    for (const int theta : uses_.uses[at(u)].theta) {
      if (theta >= 0) directions.push_back(theta);
    }
  }
  std::sort(directions.begin(), directions.end());
  directions.erase(std::unique(directions.begin(), directions.end()), directions.end());
  return directions;
}

void DirectionPlanner::choose_directions(int g) {
  UseGroup& group = groups_[at(g)];
  const auto work_of = [&](const std::vector<DirectionBlock>& blocks) {
    return std::accumulate(blocks.begin(), blocks.end(), 0.0, [](double sum, const auto& block) {
      return sum + block.multiply_adds;
    });
  };
  std::vector<int> directions = parameter_directions(group);
  const std::vector<int> sites = site_directions(group);
  std::vector<DirectionBlock> blocks;
  double sweeps = 0;
  double products = 0;
  // With more than twice as many entries as parameters, they cannot pay.
  const bool may_be_sites = sites.size() <= 2 * directions.size();
  if (may_be_sites) {
    blocks = plan(g, sites, false);
    sweeps = work_of(blocks);
    products = product_work(g, blocks, false);
  }
  if (!may_be_sites || directions.size() < 2 * sites.size()) {
    std::vector<DirectionBlock> others = plan(g, directions, true);
    const double other_sweeps = work_of(others);
    const double other_products = product_work(g, others, true);
    if (getenv("PARAMS") ? atoi(getenv("PARAMS")) == 1
                         : !may_be_sites || other_sweeps + other_products < sweeps + products) {
      group.is_by_parameters = true;
      blocks = std::move(others);
      sweeps = other_sweeps;
      products = other_products;
    }
  }
  if (getenv("DBG"))
    printf("group %d uses %zu by_params %d sites %zu repeats %d pos %d\n",
           g,
           group.uses.size(),
           group.is_by_parameters,
           sites.size(),
           group.has_repeats,
           uses_.uses[at(group.uses[0])].positions);
  group.directions = group.is_by_parameters ? std::move(directions) : sites;
  sweep_work_ += sweeps;
  product_work_ += products;
  for (DirectionBlock& block : blocks) blocks_.push_back(std::move(block));
}

std::vector<DirectionBlock> DirectionPlanner::plan(int g,
                                                   const std::vector<int>& directions,
                                                   bool by_parameters) {
  struct Place {
    int use;
    int unit;
    int input;
  };

  std::vector<std::vector<Place>> places;  // of each parameter
  if (by_parameters) {
    places.resize(at(static_cast<int>(graph_.num_parameters())));
    for (const int u : groups_[at(g)].uses) {
      const ParameterUse& use = uses_.uses[at(u)];
      for (int i = 0; i < use.units; ++i) {
        for (int j = 0; j < use.inputs; ++j) {
          const int theta = use.theta[at(i * use.inputs + j)];
          if (theta >= 0) places[at(theta)].push_back({u, i, j});
        }
      }
    }
  }
  const auto value_of = [&](int x) {
    if (x == kOne) return -1;
    const int node = entries_.node_of(x);
    if (node < 0) return one_hot_values_[at(x - entries_.size())];
    return kept_[at(node)].value + x - entries_.first(node);
  };
  std::vector<DirectionBlock> blocks;
  const auto count = static_cast<int>(directions.size());
  for (int first = 0; first < count; first += kDirections) {
    DirectionBlock block{.group = g, .first = first, .count = std::min(kDirections, count - first)};
    for (int d = 0; d < block.count; ++d) {
      const int direction = directions[at(first + d)];
      const auto seed = [&](int z, int x, double factor) {
        const int node = entries_.node_of(z);
        block.seeds.push_back({node, z - entries_.first(node), d, x, factor});
      };
      if (!by_parameters) {
        seed(direction, -1, 1);
        continue;
      }
      for (const Place& place : places[at(direction)]) {
        const ParameterUse& use = uses_.uses[at(place.use)];
        for (int t = 0; t < use.positions; ++t) {
          seed(use.z[at(t * use.units + place.unit)],
               value_of(use.x_at(t, place.unit, place.input)),
               use.factor);
        }
      }
    }
    std::stable_sort(block.seeds.begin(), block.seeds.end(), [](const Seed& a, const Seed& b) {
      return a.node < b.node;
    });
    block.plan.resize(nodes_.size());
    plan_forward(block, by_parameters);
    plan_reverse(block, by_parameters);
    block.multiply_adds = sweep_work(block);
    blocks.push_back(std::move(block));
  }
  return blocks;
}

Interval DirectionPlanner::aligned(int node, Interval entries) const {
  if (entries.is_empty()) return {};
  const int step = alignment_[at(entries_.root(node))];
  return {entries.begin / step * step,
          std::min(size_of(nodes_[at(node)]), (entries.end + step - 1) / step * step)};
}

void DirectionPlanner::widen(DirectionBlock& block,
                             int node,
                             Interval entries,
                             bool is_adjoint) const {
  const int root = entries_.root(node);
  Interval& own = is_adjoint ? block.plan[at(root)].adjoint : block.plan[at(root)].tangent;
  own = hull(own, aligned(root, entries));
}

void DirectionPlanner::plan_forward(DirectionBlock& block, bool reads_whole) {
  std::size_t seed = 0;
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    Interval& own = block.plan[at(i)].tangent;
    if (nodes_[at(i)].op == Graph::Op::kReshape) {
      own = block.plan[at(entries_.root(i))].tangent;
      continue;
    }
    Interval found;
    if (uses_.varies[at(i)]) found = forward_of(block, i);
    for (; seed < block.seeds.size() && block.seeds[seed].node == i; ++seed) {
      const int entry = block.seeds[seed].tangent;
      found = hull(found, {entry, entry + 1});
    }
    if (needs_tangent_[at(i)]) own = aligned(i, found);
    if (reads_whole && is_read_[at(i)] && !own.is_empty()) own = {0, size_of(nodes_[at(i)])};
  }
}

// Of what its operands' intervals make.
Interval DirectionPlanner::forward_of(const DirectionBlock& block, int i) const {
  const Graph::Node& n = nodes_[at(i)];
  const Interval whole{0, size_of(n)};
  const auto interval = [&](int operand) {
    return operand < 0 ? Interval{} : block.plan[at(operand)].tangent;
  };
  const Interval a = interval(n.a);
  const Interval b = interval(n.b);
  if (a.is_empty() && b.is_empty()) return {};
  const auto spread = [&](int operand, Interval entries) {
    if (entries.is_empty()) return entries;
    const Graph::Node& o = nodes_[at(operand)];
    return o.rows == n.rows && o.cols == n.cols ? entries : whole;
  };
  switch (n.op) {
    case Graph::Op::kAdd:
    case Graph::Op::kSubtract:
    case Graph::Op::kHadamard:
    case Graph::Op::kDivide:
      return hull(spread(n.a, a), spread(n.b, b));
    case Graph::Op::kScale:
    case Graph::Op::kElementary:
    case Graph::Op::kSelect:
      return hull(a, b);
    case Graph::Op::kSoftmaxRows:
      return times(rows_of(a, n.cols), n.cols);
    case Graph::Op::kLogSumExpRows:
    case Graph::Op::kCrossEntropyRows:
    case Graph::Op::kSumRows:
    case Graph::Op::kMaxRows:
      return rows_of(a, nodes_[at(n.a)].cols);
    case Graph::Op::kMatmul: {
      if (n.stack > 1) {  // whole products
        Interval products;
        const auto add = [&](int operand, bool is_shared, Interval entries) {
          if (entries.is_empty()) return;
          const Graph::Node& o = nodes_[at(operand)];
          products = hull(products,
                          is_shared ? Interval{0, static_cast<int>(n.stack)}
                                    : rows_of(entries, o.size() / n.stack));
        };
        const bool is_by_rows = b.is_empty() && !n.transpose_a && !n.is_shared_a;
        if (is_by_rows) return times(rows_of(a, nodes_[at(n.a)].cols), n.cols);
        add(n.a, n.is_shared_a, a);
        add(n.b, n.is_shared_b, b);
        return times(products, n.size() / n.stack);
      }
      if (!b.is_empty() || n.transpose_a) return whole;
      return times(rows_of(a, nodes_[at(n.a)].cols), n.cols);
    }
    case Graph::Op::kSquaredDistances:
      return b.is_empty() ? times(rows_of(a, nodes_[at(n.a)].cols), n.cols) : whole;
    case Graph::Op::kSum:
      return whole;
    case Graph::Op::kSlice:
    case Graph::Op::kEmbed:
    case Graph::Op::kGather: {
      Interval found;
      const auto a_size = size_of(nodes_[at(n.a)]);
      const auto cols = static_cast<int>(n.cols);
      const auto a_cols = static_cast<int>(nodes_[at(n.a)].cols);
      for (int e = 0; e < size_of(n); ++e) {
        int from = -1;
        if (n.op == Graph::Op::kGather) {
          from = graph_.indices()[at(static_cast<int>(n.offset) + e)];
        } else if (n.op == Graph::Op::kSlice) {
          from = (static_cast<int>(n.row) + e / cols) * a_cols + static_cast<int>(n.col) + e % cols;
        } else {
          const int r = e / cols - static_cast<int>(n.row);
          const int c = e % cols - static_cast<int>(n.col);
          if (r >= 0 && c >= 0 && c < a_cols && r * a_cols + c < a_size) from = r * a_cols + c;
        }
        const Interval& live = from < a_size ? a : b;
        const int entry = from < a_size ? from : from - a_size;
        if (from >= 0 && entry >= live.begin && entry < live.end) found = hull(found, {e, e + 1});
      }
      return found;
    }
    default:
      return {};
  }
}

void DirectionPlanner::plan_reverse(DirectionBlock& block, bool reads_whole) {
  for (int i = static_cast<int>(nodes_.size()); i-- > 0;) {
    Interval& own = block.plan[at(i)].adjoint;
    if (reads_whole && is_read_[at(i)] && !own.is_empty()) own = {0, size_of(nodes_[at(i)])};
    if (uses_.varies[at(i)] && nodes_[at(i)].a >= 0 && nodes_[at(i)].op != Graph::Op::kReshape) {
      reverse_of(block, i);
    }
  }
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    block.plan[at(i)].adjoint = block.plan[at(entries_.root(i))].adjoint;
  }
}

// What a node's adjoint and its operands' tangents give to its operands' adjoints.
void DirectionPlanner::reverse_of(DirectionBlock& block, int i) const {
  const Graph::Node& n = nodes_[at(i)];
  const Interval bar = block.plan[at(entries_.root(i))].adjoint;
  const auto tangent = [&](int operand) {
    return operand < 0 ? Interval{} : block.plan[at(operand)].tangent;
  };
  const Interval a = tangent(n.a);
  const Interval b = tangent(n.b);
  const auto give = [&](int operand, Interval entries) {
    if (operand < 0 || entries.is_empty() || !uses_.varies[at(operand)]) return;
    if (last_group_[at(operand)] < block.group) return;
    widen(block, operand, entries, true);
  };
  const auto all = [&](int operand) { return Interval{0, size_of(nodes_[at(operand)])}; };
  // Of an operand with entries like the node's; else all of it.
  const auto spread = [&](int operand, Interval entries) {
    if (entries.is_empty()) return entries;
    const Graph::Node& o = nodes_[at(operand)];
    return o.rows == n.rows && o.cols == n.cols ? entries : all(operand);
  };
  // Of an operand, given those of the other.
  const auto across = [&](int operand, int other, Interval entries) {
    if (entries.is_empty()) return entries;
    const Graph::Node& o = nodes_[at(other)];
    return spread(operand,
                  o.rows == n.rows && o.cols == n.cols ? entries : Interval{0, size_of(n)});
  };
  switch (n.op) {
    case Graph::Op::kAdd:
    case Graph::Op::kSubtract:
      give(n.a, spread(n.a, bar));
      return give(n.b, spread(n.b, bar));
    case Graph::Op::kHadamard:
      give(n.a, hull(spread(n.a, bar), across(n.a, n.b, b)));
      return give(n.b, hull(spread(n.b, bar), across(n.b, n.a, a)));
    case Graph::Op::kDivide:
      give(n.a, hull(spread(n.a, bar), across(n.a, n.b, b)));
      return give(n.b, hull(spread(n.b, bar), hull(across(n.b, n.a, a), across(n.b, n.b, b))));
    case Graph::Op::kScale:
      return give(n.a, bar);
    case Graph::Op::kSelect:
      give(n.a, bar);
      return give(n.b, bar);
    case Graph::Op::kElementary:
      return give(n.a, hull(bar, a));
    case Graph::Op::kSoftmaxRows: {
      const Interval own = tangent(i);
      return give(n.a, times(rows_of(hull(bar, own), n.cols), n.cols));
    }
    case Graph::Op::kLogSumExpRows:
    case Graph::Op::kCrossEntropyRows: {
      const Eigen::Index cols = nodes_[at(n.a)].cols;
      return give(n.a, times(hull(bar, rows_of(a, cols)), cols));
    }
    case Graph::Op::kSumRows:
    case Graph::Op::kMaxRows:
      return give(n.a, times(bar, nodes_[at(n.a)].cols));
    case Graph::Op::kSum:
      return give(n.a, bar.is_empty() ? bar : all(n.a));
    case Graph::Op::kSquaredDistances: {
      const Interval rows = hull(times(rows_of(bar, n.cols), nodes_[at(n.a)].cols), a);
      give(n.a, b.is_empty() ? rows : all(n.a));
      return give(n.b, rows.is_empty() && b.is_empty() ? Interval{} : all(n.b));
    }
    case Graph::Op::kMatmul: {
      const bool by_rows = !n.transpose_a && !n.is_shared_a;
      const Graph::Node& left = nodes_[at(n.a)];
      if (!bar.is_empty()) {
        give(n.a, by_rows ? times(rows_of(bar, n.cols), left.cols) : all(n.a));
      }
      const auto products_of = [&](Interval entries, Eigen::Index size) {
        return rows_of(entries, size / n.stack);
      };
      const auto parts_of = [&](int operand, bool is_shared, Interval products) {
        return is_shared ? all(operand) : times(products, nodes_[at(operand)].size() / n.stack);
      };
      const Interval every{0, static_cast<int>(n.stack)};
      if (!b.is_empty()) {
        const Interval products = n.is_shared_b ? every : products_of(b, nodes_[at(n.b)].size());
        give(n.a, parts_of(n.a, n.is_shared_a, products));
      }
      Interval products;
      if (!bar.is_empty()) products = products_of(bar, n.size());
      if (!a.is_empty()) {
        products = hull(products, n.is_shared_a ? every : products_of(a, left.size()));
      }
      if (!products.is_empty()) give(n.b, parts_of(n.b, n.is_shared_b, products));
      return;
    }
    case Graph::Op::kSlice:
    case Graph::Op::kEmbed:
    case Graph::Op::kGather: {
      const auto cols = static_cast<int>(n.cols);
      const Graph::Node& from = nodes_[at(n.a)];
      const auto a_cols = static_cast<int>(from.cols);
      for (int e = bar.begin; e < bar.end; ++e) {
        if (n.op == Graph::Op::kSlice) {
          const int entry =
              (static_cast<int>(n.row) + e / cols) * a_cols + static_cast<int>(n.col) + e % cols;
          give(n.a, {entry, entry + 1});
        } else if (n.op == Graph::Op::kEmbed) {
          const int r = e / cols - static_cast<int>(n.row);
          const int c = e % cols - static_cast<int>(n.col);
          if (r < 0 || c < 0 || r >= static_cast<int>(from.rows) || c >= a_cols) continue;
          give(n.a, {r * a_cols + c, r * a_cols + c + 1});
        } else {
          const int entry = graph_.indices()[at(static_cast<int>(n.offset) + e)];
          if (entry < 0) continue;
          const int a_size = size_of(from);
          if (entry < a_size) {
            give(n.a, {entry, entry + 1});
          } else {
            give(n.b, {entry - a_size, entry - a_size + 1});
          }
        }
      }
      return;
    }
    default:
      return;
  }
}

bool DirectionPlanner::is_in(const DirectionBlock& block, int entry, bool is_adjoint) const {
  const int node = entries_.node_of(entry);
  if (node < 0) return false;
  const NodeSweep& plan = block.plan[at(node)];
  const Interval own = is_adjoint ? plan.adjoint : plan.tangent;
  const int e = entry - entries_.first(node);
  return e >= own.begin && e < own.end;
}

// Products of matrices exactly, of other nodes each entry once or twice.
double DirectionPlanner::sweep_work(const DirectionBlock& block) const {
  double work = 0;
  for (int i = 0; i < static_cast<int>(nodes_.size()); ++i) {
    const Graph::Node& n = nodes_[at(i)];
    if (n.a < 0 || n.op == Graph::Op::kReshape) continue;
    const NodeSweep& own = block.plan[at(i)];
    const auto length = [](Interval entries) {
      return static_cast<double>(entries.end - entries.begin);
    };
    if (n.op != Graph::Op::kMatmul) {
      work += length(own.tangent) + length(own.adjoint);
      continue;
    }
    const NodeSweep& a = block.plan[at(n.a)];
    const NodeSweep* const b = &block.plan[at(n.b)];
    const Graph::Node& left = nodes_[at(n.a)];
    const auto inner = static_cast<double>(!n.transpose_a  ? left.cols
                                           : n.is_shared_a ? left.rows
                                                           : left.rows / n.stack);
    const auto rows = static_cast<double>(n.rows / n.stack);
    const auto cols = static_cast<double>(n.cols);
    const double a_times = n.is_shared_a ? static_cast<double>(n.stack) : 1;
    const double b_times = n.is_shared_b ? static_cast<double>(n.stack) : 1;
    const double of_a = length(a.tangent) * a_times * cols;
    const double of_b = length(b->tangent) * b_times * rows;
    const double of_bar = length(own.adjoint) * inner;
    if (!own.tangent.is_empty()) work += of_a + of_b;
    if (!a.adjoint.is_empty()) work += of_bar + of_b;
    if (!b->adjoint.is_empty()) work += of_bar + of_a;
  }
  return work * block.count;
}

double DirectionPlanner::product_work(int g,
                                      const std::vector<DirectionBlock>& blocks,
                                      bool by_parameters) const {
  double work = 0;
  double later = 0;  // parameters of rows, each as often as it is used
  for (int h = g; h < static_cast<int>(groups_.size()); ++h) {
    for (const int u : groups_[at(h)].uses) {
      const ParameterUse& use = uses_.uses[at(u)];
      const double share = h == g ? 0.5 : 1;
      const double size = share * use.units * use.inputs;
      later += size;
      for (const DirectionBlock& block : blocks) {
        double terms = 0;
        for (int t = 0; t < use.positions; ++t) {
          terms += is_in(block, use.z[at(t * use.units)], true) ? 1 : 0;
          const int x = use.x_at(t, 0, 0);
          terms += x != kOne && is_in(block, x, false) ? 1 : 0;
        }
        work += size * terms * block.count;
      }
    }
  }
  if (by_parameters) return work;
  for (const int v : groups_[at(g)].uses) {
    const ParameterUse& use = uses_.uses[at(v)];
    work += later * use.positions * use.units * use.inputs;
  }
  return work;
}

}  // namespace hesscope::detail
