// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: derivatives of a chain of nodes that forms one elementwise function of a
// and b (sweep_graph.h). They are computed from its first node to its last, for each node with
// respect to a and b.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/autodiff/internal/elementary.h>
#include <hesscope/structured/internal/graph/tangent_sweep.h>

namespace hesscope::detail {

/// @tparam B     a number: lanes
/// @tparam Tape  values(node): a span of B
template <typename B, typename Tape>
class ChainDerivatives {
 public:
  ChainDerivatives(std::span<const Graph::Node> nodes,
                   std::span<const SweepNode> kept,
                   const Tape& tape)
      : nodes_(nodes), kept_(kept), tape_(tape) {}

  /// The derivatives that the last node has, one after the other, each for all entries; valid until
  /// the next call.
  const B* of(const ElementwiseChain& chain) {
    chain_ = &chain;
    size_ = static_cast<std::size_t>(nodes_[at(chain.a)].size());
    const std::size_t count = chain.nodes.size();
    first_.clear();
    std::size_t end = 2 * size_;  // behind the slopes and second derivatives of a function
    for (const Derivatives& own : chain.derivatives) {
      first_.push_back(end);
      end += count_before(own, kNumDerivatives) * size_;
    }
    series_.resize(std::max(series_.size(), end));
    for (std::size_t k = 0; k < count; ++k) propagate(k);
    return series_.data() + first_.back();
  }

 private:
  static constexpr int kOperands = 2;

  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

  static std::size_t count_before(const Derivatives& own, int kind) {
    return static_cast<std::size_t>(own.count_before(kind));
  }

  // The derivative of node k of the chain; null if it is zero.
  B* derivative(std::size_t k, int kind) {
    const Derivatives& own = chain_->derivatives[k];
    if (!own.has[kind]) return nullptr;
    return series_.data() + first_[k] + count_before(own, kind) * size_;
  }

  // An operand, by entries of the chain.
  struct Operand {
    const B* values = nullptr;
    const B* derivatives[kNumDerivatives] = {};
    int which = -1;  // 0 if it is a, 1 if it is b
    int row_step = 0;
    int col_step = 0;

    bool has(int kind) const { return derivatives[kind] != nullptr || kind == which; }

    B get(int kind, std::size_t e) const {
      return derivatives[kind] != nullptr ? derivatives[kind][e] : B(kind == which ? 1 : 0);
    }

    // The product with a number, which may be infinite where a derivative does not exist.
    B times(const B& number, int kind, std::size_t e) const {
      return derivatives[kind] != nullptr ? number * derivatives[kind][e]
             : kind == which              ? number
                                          : B(0);
    }
  };

  Operand operand(std::int32_t i, const Graph::Node& taker) {
    if (i < 0) return {};
    const Graph::Node& n = nodes_[at(i)];
    Operand found{.values = tape_.values(at(i)).data(),
                  .row_step = n.rows == 1 ? 0 : static_cast<int>(n.cols),
                  .col_step = n.cols == 1 ? 0 : 1};
    const int root = kept_[at(i)].root;
    if (root == kept_[at(chain_->a)].root) found.which = 0;
    if (chain_->b >= 0 && root == kept_[at(chain_->b)].root) found.which = 1;
    for (std::size_t k = 0; k < chain_->nodes.size(); ++k) {
      if (chain_->nodes[k] != root || !is_same_shape(n, taker)) continue;
      for (int kind = 0; kind < kNumDerivatives; ++kind) {
        found.derivatives[kind] = derivative(k, kind);
      }
    }
    return found;
  }

  static bool is_same_shape(const Graph::Node& a, const Graph::Node& b) {
    return a.rows == b.rows && a.cols == b.cols;
  }

  // Sets each derivative that node k has: to linear(kind, entry), plus mixed(u, v, entry) for
  // second derivatives with respect to operands u and v.
  template <typename Linear, typename Mixed>
  void set(std::size_t k, Linear linear, Mixed mixed) {
    for (int kind = 0; kind < kNumDerivatives; ++kind) {
      B* const out = derivative(k, kind);
      if (out == nullptr) continue;
      for (std::size_t e = 0; e < size_; ++e) out[e] = linear(kind, e);
      if (kind < kOperands) continue;
      const int u = kind == second_derivative(1, 1) ? 1 : 0;
      const int v = kind == second_derivative(0, 0) ? 0 : 1;
      for (std::size_t e = 0; e < size_; ++e) out[e] += mixed(u, v, e);
    }
  }

  template <typename Linear>
  void set(std::size_t k, Linear linear) {
    set(k, linear, [](int, int, std::size_t) { return B(0); });
  }

  void propagate(std::size_t k) {
    using Op = Graph::Op;
    const Graph::Node& node = nodes_[at(chain_->nodes[k])];
    const B* const y = tape_.values(at(chain_->nodes[k])).data();
    const Operand a = operand(node.a, node);
    const Operand b = operand(node.b, node);
    const auto cols = static_cast<std::size_t>(node.cols);
    const auto value = [&](const Operand& o, std::size_t e) -> const B& {
      return o.values[e / cols * static_cast<std::size_t>(o.row_step) +
                      e % cols * static_cast<std::size_t>(o.col_step)];
    };
    switch (node.op) {
      case Op::kAdd:
        return set(k, [&](int kind, auto e) { return a.get(kind, e) + b.get(kind, e); });
      case Op::kSubtract:
        return set(k, [&](int kind, auto e) { return a.get(kind, e) - b.get(kind, e); });
      case Op::kScale:
        return set(k, [&](int kind, auto e) { return B(node.factor) * a.get(kind, e); });
      case Op::kHadamard:  // (a b)_uv = a_uv b + a b_uv + a_u b_v + a_v b_u
        return set(
            k,
            [&](int kind, auto e) {
              return a.times(value(b, e), kind, e) + b.times(value(a, e), kind, e);
            },
            [&](int u, int v, auto e) {
              B sum(0);
              if (a.has(u) && b.has(v)) sum += a.get(u, e) * b.get(v, e);
              if (a.has(v) && b.has(u)) sum += a.get(v, e) * b.get(u, e);
              return sum;
            });
      // y = a / b: y_u = (a_u - y b_u) / b, y_uv = (a_uv - y b_uv - y_u b_v - y_v b_u) / b
      case Op::kDivide: {
        const B* const first[kOperands] = {derivative(k, 0), derivative(k, 1)};
        return set(
            k,
            [&](int kind, auto e) {
              return (a.get(kind, e) - b.times(y[e], kind, e)) / value(b, e);
            },
            [&](int u, int v, auto e) {
              B sum(0);
              if (first[u] != nullptr && b.has(v)) sum += first[u][e] * b.get(v, e);
              if (first[v] != nullptr && b.has(u)) sum += first[v][e] * b.get(u, e);
              return -sum / value(b, e);
            });
      }
      case Op::kElementary: {  // phi(a)_uv = phi' a_uv + phi'' a_u a_v
        B* const slopes = series_.data();
        B* const seconds = slopes + size_;
        visit_elementary(node.function, node.factor, node.beta, [&](auto phi) {
          for (std::size_t e = 0; e < size_; ++e) {
            slopes[e] = phi.df(a.values[e]);
            seconds[e] = phi.ddf(a.values[e]);
          }
        });
        return set(
            k,
            [&](int kind, auto e) { return a.times(slopes[e], kind, e); },
            [&](int u, int v, auto e) {
              const bool is_there = a.has(u) && a.has(v);
              return is_there ? seconds[e] * a.get(u, e) * a.get(v, e) : B(0);
            });
      }
      case Op::kSelect: {
        const Operand choice = operand(node.choice, node);
        return set(k, [&](int kind, auto e) {
          return select(value(choice, e) != B(0), a.get(kind, e), b.get(kind, e));
        });
      }
      default:
        return;
    }
  }

  std::span<const Graph::Node> nodes_;
  std::span<const SweepNode> kept_;
  const Tape& tape_;
  const ElementwiseChain* chain_ = nullptr;
  std::size_t size_ = 0;
  std::vector<std::size_t> first_;  // for each node of the chain, in series_
  std::vector<B> series_;
};

}  // namespace hesscope::detail
