// SPDX-License-Identifier: BSD-3-Clause
//
// The tape evaluates a recorded graph with a base scalar B, forwards for values and backwards for
// adjoints; and with ceres::Jet<B, N>, forward over reverse, for N Hessian-vector products at a
// time.
//
// A second-order sweep seeds the parameters with Jets, theta + sum_k d_k eps_k, evaluates the graph
// forwards and backwards in Jet arithmetic, and finds the products in the infinitesimal part of the
// parameters' adjoints
//   thetabar = grad f(theta) + sum_k (H d_k) eps_k.
// For a block of unit directions e_j, j in J, two properties of the graph halve the work:
//  - nodes that do not depend on the seeded parameters (inactive) stay plain numbers;
//  - by symmetry only the rows i >= min J of H are needed, so only nodes that depend on those
//    parameters (needed) have an adjoint.
// Both sets are suffixes of the network: the sweep for the parameters of layer l begins and ends
// there.
//
// The Gauss-Newton matrix G = J^T (d2l/dz2) J of a loss l(z(theta)) is computed by the same sweep,
// with the nodes up to the prediction z treated as linear (not curved). Beyond z the adjoints are
// unchanged:
//   zbar = dl/dz + sum_k ((d2l/dz2) J d_k) eps_k,
// and before it, J^T at the plain theta, which has no infinitesimal part, turns the second term
// into sum_k (G d_k) eps_k.
//
// A third-order sweep does the same with PairJet<B, N> and gives the derivatives of f along N pairs
// of directions, T[u_k, v_k]. Derivatives along lines need no backward pass: with LineJet<B, N>,
// the output has them.
//
// Sizes are fixed by the graph, so a tape allocates memory once and can be used for any number of
// samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/autodiff/internal/node_reverse.h>
#include <hesscope/autodiff/internal/sweep_plan.h>

namespace hesscope::detail {

/// @tparam J  the Jet of second- and higher-order sweeps: ceres::Jet<B, N>, PairJet<B, N> or
///            LineJet<B, N>.
template <typename B, typename J>
class Tape {
 public:
  using Jet = J;
  using Op = Graph::Op;
  using Node = Graph::Node;

  /// Memory per matrix entry of the graph: plain values and adjoints; additionally Jets, once
  /// seeded; and their adjoints, once requested.
  static constexpr double kPlainBytesPerEntry = 2 * sizeof(B);
  static constexpr double kForwardBytesPerEntry = kPlainBytesPerEntry + sizeof(Jet);
  static constexpr double kBytesPerEntry = kForwardBytesPerEntry + sizeof(Jet);

  /// `graph` must outlive the tape and have an output.
  explicit Tape(const Graph& graph) : graph_(&graph), nodes_(graph.nodes()) {
    Eigen::Index total = 0;
    for (const Node& node : nodes_) {
      if (node.op == Op::kReshape) {  // the same entries
        offsets_.push_back(offsets_[static_cast<std::size_t>(node.a)]);
      } else {
        offsets_.push_back(total);
        total += node.size();
      }
      is_common_.push_back(node.op != Op::kInput && is_common(node.a) && is_common(node.b) &&
                           is_common(node.choice));
    }
    values_.resize(static_cast<std::size_t>(total));
    adjoints_.resize(static_cast<std::size_t>(total));
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].op != Op::kConstant) continue;
      for (Eigen::Index e = 0; e < nodes_[i].size(); ++e) {
        const double constant = graph.constants()[static_cast<std::size_t>(nodes_[i].offset + e)];
        values_[index(i, e)] = B(constant);
      }
    }
  }

  /// Sets every parameter node; `parameter(j)` is theta_j as a B.
  template <typename F>
  void set_parameters(F parameter) {
    set_leaves(Op::kParameter, parameter);
    has_common_values_ = has_common_jets_ = false;
  }

  /// Sets every input node; `entry(j)` is entry j of the sample record as a B.
  template <typename F>
  void set_inputs(F entry) {
    set_leaves(Op::kInput, entry);
  }

  /// Values of all nodes. Parameters and inputs must have been set.
  void forward() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!has_common_values_ || !is_common_[i]) forward_plain(i);
    }
    has_common_values_ = true;
  }

  const B& output() const { return values_[index(output_node(), 0)]; }

  /// The prediction, row by row. forward() must have been called; the graph has a prediction.
  std::span<const B> prediction() const { return values(prediction_node()); }

  /// The values of a node, row by row, after forward(); and the adjoint of a needed node after
  /// reverse().
  std::span<const B> values(std::size_t node) const { return entries(values_, node); }

  std::span<const B> adjoints(std::size_t node) const { return entries(adjoints_, node); }

  /// Adjoints of all nodes that depend on parameters, given the adjoint of the output.
  void reverse(const SweepPlan& plan, const B& output_adjoint) {
    run_reverse<B>(plan, adjoints_, output_adjoint);
  }

  /// The same, given adjoint 1 for entry `entry` of the prediction and 0 for the others: row
  /// `entry` of its Jacobian.
  void reverse_prediction(const SweepPlan& plan, Eigen::Index entry) {
    clear<B>(plan, adjoints_);
    adjoints_[index(prediction_node(), entry)] = B(1);
    propagate<B>(plan, adjoints_, prediction_node(), 0);
  }

  /// Calls visit(k, d2l/dz_k dz_entry) for every entry k of the prediction z. forward() must have
  /// been called; the plan is plan_loss().
  template <typename F>
  void visit_loss_hessian_column(const SweepPlan& plan, Eigen::Index entry, F visit) {
    jets_.resize(values_.size());
    jet_adjoints_.resize(values_.size());
    const std::size_t z = prediction_node();
    for (Eigen::Index e = 0; e < nodes_[z].size(); ++e)
      jets_[index(z, e)] = Jet(values_[index(z, e)]);
    jets_[index(z, entry)].v[0] = B(1);
    for (std::size_t i = z + 1; i < nodes_.size(); ++i) {
      if (plan[i].active) forward_active(plan, i);
    }
    clear<Jet>(plan, jet_adjoints_);
    jet_adjoints_[index(output_node(), 0)] = Jet(B(1));
    propagate<Jet>(plan, jet_adjoints_, output_node(), z + 1);
    for (Eigen::Index e = 0; e < nodes_[z].size(); ++e) visit(e, jet_adjoints_[index(z, e)].v[0]);
  }

  /// Calls visit(j, thetabar_j) for every entry of every parameter node; a parameter that occurs in
  /// several nodes is visited once for each, and its adjoint is the sum.
  template <typename F>
  void visit_adjoints(F visit) const {
    visit_parameters(adjoints_, 0, visit);
  }

  /// Seeds the active parameters: jet(j, theta_j) is theta_j with its infinitesimal part.
  template <typename F>
  void seed(const SweepPlan& plan, F jet) {
    jets_.resize(values_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].op != Op::kParameter || !plan[i].active) continue;
      for (Eigen::Index e = 0; e < nodes_[i].size(); ++e) {
        jets_[index(i, e)] = jet(nodes_[i].offset + e, values_[index(i, e)]);
      }
    }
    has_common_jets_ = false;
  }

  /// Values of the inactive nodes, Jets of the active ones, and both for those that are active but
  /// not curved. Parameters must have been set and seeded with this plan, inputs set. Whatever does
  /// not depend on inputs is computed once for the seeds.
  void forward_jets(const SweepPlan& plan) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (has_common_jets_ && is_common_[i]) continue;
      if (!plan[i].active) {
        forward_inactive(plan, i);
      } else if (nodes_[i].op != Op::kParameter) {
        forward_active(plan, i);
        if (!plan[i].curved) copy_values(i);
      }
    }
    has_common_jets_ = true;
  }

  /// The output, after forward_jets().
  Jet output_jet(const SweepPlan& plan) const {
    const std::size_t i = index(output_node(), 0);
    return plan[output_node()].active ? jets_[i] : Jet(values_[i]);
  }

  /// Adjoint Jets of the needed nodes.
  void reverse_jets(const SweepPlan& plan, const B& output_adjoint) {
    jet_adjoints_.resize(values_.size());
    run_reverse<Jet>(plan, jet_adjoints_, Jet(output_adjoint));
  }

  /// Calls visit(j, thetabar_j) for every needed parameter j >= first_needed, as visit_adjoints().
  template <typename F>
  void visit_adjoint_jets(Eigen::Index first_needed, F visit) const {
    visit_parameters(jet_adjoints_, first_needed, visit);
  }

 private:
  std::size_t index(std::size_t node, Eigen::Index entry) const {
    return static_cast<std::size_t>(offsets_[node] + entry);
  }

  std::span<const B> entries(const std::vector<B>& all, std::size_t node) const {
    return {all.data() + offsets_[node], static_cast<std::size_t>(nodes_[node].size())};
  }

  std::size_t output_node() const { return static_cast<std::size_t>(graph_->output()); }

  std::size_t prediction_node() const { return static_cast<std::size_t>(graph_->prediction()); }

  template <typename T>
  View<T> view(T* storage, std::size_t node) const {
    const Node& n = nodes_[node];
    return {storage + offsets_[node], n.rows, n.cols, n.cols, 1};
  }

  template <typename F>
  void set_leaves(Op op, F value) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].op != op) continue;
      for (Eigen::Index e = 0; e < nodes_[i].size(); ++e) {
        values_[index(i, e)] = value(nodes_[i].offset + e);
      }
    }
  }

  template <typename T, typename F>
  void visit_parameters(const std::vector<T>& adjoints, Eigen::Index first_needed, F visit) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      if (node.op != Op::kParameter) continue;
      for (Eigen::Index e = 0; e < node.size(); ++e) {
        const Eigen::Index j = node.offset + e;
        if (j >= first_needed) visit(j, adjoints[index(i, e)]);
      }
    }
  }

  // Calls use(view) with the operand's Jets if it is active, otherwise with its plain values.
  template <typename F>
  void with_operand(const SweepPlan& plan, std::int32_t operand, F use) const {
    const auto node = static_cast<std::size_t>(operand);
    if (plan[node].active) {
      use(view<const Jet>(jets_.data(), node));
    } else {
      use(view<const B>(values_.data(), node));
    }
  }

  // Whether there is no such operand, or it is the same for all samples.
  bool is_common(std::int32_t operand) const {
    return operand < 0 || is_common_[static_cast<std::size_t>(operand)] != 0;
  }

  NodeData<B> data_of(const Node& node) const {
    return {.choice = node.choice < 0
                          ? View<const B>{}
                          : view<const B>(values_.data(), static_cast<std::size_t>(node.choice)),
            .indices = node.op == Op::kGather ? graph_->indices().data() + node.offset : nullptr};
  }

  void forward_plain(std::size_t i) {
    const Node& node = nodes_[i];
    const View<B> out = view<B>(values_.data(), i);
    const auto operand = [&](std::int32_t id) {
      return view<const B>(values_.data(), static_cast<std::size_t>(id));
    };
    if (node.b >= 0) {
      forward_binary(node, data_of(node), out, operand(node.a), operand(node.b));
    } else if (node.a >= 0) {
      forward_unary(node, data_of(node), out, operand(node.a));
    }
  }

  // Steps pass on values, but no Jets.
  void forward_inactive(const SweepPlan& plan, std::size_t i) {
    for (const std::int32_t operand : {nodes_[i].a, nodes_[i].b}) {
      if (operand < 0) continue;
      const auto node = static_cast<std::size_t>(operand);
      if (plan[node].active) copy_values(node);
    }
    forward_plain(i);
  }

  void forward_active(const SweepPlan& plan, std::size_t i) {
    const Node& node = nodes_[i];
    const View<Jet> out = view<Jet>(jets_.data(), i);
    if (node.b < 0) {
      forward_unary(node,
                    data_of(node),
                    out,
                    view<const Jet>(jets_.data(), static_cast<std::size_t>(node.a)));
      return;
    }
    with_operand(plan, node.a, [&](auto a) {
      with_operand(plan, node.b, [&](auto b) {
        using A = std::remove_const_t<std::remove_pointer_t<decltype(a.data)>>;
        using C = std::remove_const_t<std::remove_pointer_t<decltype(b.data)>>;
        // Two plain operands cannot make an active node.
        if constexpr (!(std::is_same_v<A, B> && std::is_same_v<C, B>)) {
          forward_binary(node, data_of(node), out, a, b);
        }
      });
    });
  }

  // Takes the values from the Jets.
  void copy_values(std::size_t i) {
    for (Eigen::Index e = 0; e < nodes_[i].size(); ++e) values_[index(i, e)] = jets_[index(i, e)].a;
  }

  template <typename Bar>
  void run_reverse(const SweepPlan& plan, std::vector<Bar>& bars, const Bar& output_adjoint) {
    clear<Bar>(plan, bars);
    bars[index(output_node(), 0)] = output_adjoint;
    propagate<Bar>(plan, bars, output_node(), 0);
  }

  template <typename Bar>
  void clear(const SweepPlan& plan, std::vector<Bar>& bars) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!plan[i].needed) continue;
      for (Eigen::Index e = 0; e < nodes_[i].size(); ++e) bars[index(i, e)] = Bar{};
    }
  }

  // Propagates from the adjoints of node `first` to those of the operands of nodes first, first -
  // 1, ... last.
  template <typename Bar>
  void propagate(const SweepPlan& plan,
                 std::vector<Bar>& bars,
                 std::size_t first,
                 std::size_t last) const {
    for (std::size_t i = first + 1; i-- > last;) {
      const Node& node = nodes_[i];
      if (!plan[i].needed || node.a < 0) continue;
      const auto self = static_cast<std::int32_t>(i);
      const View<const Bar> bar = view<const Bar>(bars.data(), i);
      const auto value_of = [&](std::int32_t operand, auto use) {
        with_value<Bar>(plan, i, operand, use);
      };
      const auto bar_of = [&](std::int32_t operand) {
        return view<Bar>(bars.data(), static_cast<std::size_t>(operand));
      };
      if (node.b < 0) {
        if (!plan[static_cast<std::size_t>(node.a)].needed) continue;
        reverse_unary(node, self, data_of(node), bar_of(node.a), bar, value_of);
      } else {
        reverse_binary(node,
                       self,
                       data_of(node),
                       bar_of(node.a),
                       plan[static_cast<std::size_t>(node.a)].needed,
                       bar_of(node.b),
                       plan[static_cast<std::size_t>(node.b)].needed,
                       bar,
                       value_of);
      }
    }
  }

  // Calls use(view) with the operand as this sweep sees it on its way back through node i: plain in
  // a first-order sweep and if i is not curved, otherwise by activity.
  template <typename Bar, typename F>
  void with_value(const SweepPlan& plan, std::size_t i, std::int32_t operand, F use) const {
    if constexpr (!std::is_same_v<Bar, B>) {
      if (plan[i].curved) return with_operand(plan, operand, use);
    }
    use(view<const B>(values_.data(), static_cast<std::size_t>(operand)));
  }

  const Graph* graph_;
  std::span<const Node> nodes_;
  std::vector<Eigen::Index> offsets_;  // of each node's entries in the arrays below
  std::vector<char> is_common_;        // of each node: the same for all samples
  bool has_common_values_ = false;     // whether those are computed, plain
  bool has_common_jets_ = false;       // and for a sweep of Jets
  std::vector<B> values_;
  std::vector<B> adjoints_;
  std::vector<Jet> jets_;
  std::vector<Jet> jet_adjoints_;
};

}  // namespace hesscope::detail
