// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: the two derivatives of a chain of nodes that is one elementwise function of
// x (sweep_graph.h), by its Taylor series: of each node y, y' and y'' with respect to x.
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

  /// Of the last node; valid until the next call.
  struct Result {
    const B* first;
    const B* second;
  };

  Result of(const ElementwiseChain& chain) {
    const auto size = static_cast<std::size_t>(nodes_[at(chain.x)].size());
    const std::size_t count = chain.nodes.size();
    series_.resize(std::max(series_.size(), 2 * size * count));
    chain_ = &chain;
    size_ = size;
    for (std::size_t k = 0; k < count; ++k) propagate(k);
    return {first(count - 1), second(count - 1)};
  }

 private:
  static std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

  B* first(std::size_t k) { return series_.data() + 2 * k * size_; }

  B* second(std::size_t k) { return first(k) + size_; }

  // An operand by entries of the chain.
  struct Operand {
    const B* values = nullptr;
    const B* first = nullptr;  // null where it is x, or does not depend on it
    const B* second = nullptr;
    bool is_x = false;
    int row_step = 0;
    int col_step = 0;

    B d(std::size_t e) const { return first != nullptr ? first[e] : B(is_x ? 1 : 0); }

    B dd(std::size_t e) const { return second != nullptr ? second[e] : B(0); }

    // Times a number, which may be infinite where there is no derivative.
    B times_d(const B& number, std::size_t e) const {
      return first != nullptr ? number * first[e] : is_x ? number : B(0);
    }

    B times_dd(const B& number, std::size_t e) const {
      return second != nullptr ? number * second[e] : B(0);
    }
  };

  Operand operand(std::int32_t i, const Graph::Node& taker) {
    if (i < 0) return {};
    const Graph::Node& n = nodes_[at(i)];
    Operand found{.values = tape_.values(at(i)).data(),
                  .row_step = n.rows == 1 ? 0 : static_cast<int>(n.cols),
                  .col_step = n.cols == 1 ? 0 : 1};
    const int root = kept_[at(i)].root;
    found.is_x = root == kept_[at(chain_->x)].root;
    for (std::size_t k = 0; k < chain_->nodes.size(); ++k) {
      if (chain_->nodes[k] != root || !is_same_shape(n, taker)) continue;
      found.first = first(k);
      found.second = second(k);
    }
    return found;
  }

  static bool is_same_shape(const Graph::Node& a, const Graph::Node& b) {
    return a.rows == b.rows && a.cols == b.cols;
  }

  void propagate(std::size_t k) {
    using Op = Graph::Op;
    const Graph::Node& node = nodes_[at(chain_->nodes[k])];
    const B* const y = tape_.values(at(chain_->nodes[k])).data();
    B* const d = first(k);
    B* const dd = second(k);
    const Operand a = operand(node.a, node);
    const Operand b = operand(node.b, node);
    const auto cols = static_cast<std::size_t>(node.cols);
    const auto value = [&](const Operand& o, std::size_t e) -> const B& {
      return o.values[e / cols * static_cast<std::size_t>(o.row_step) +
                      e % cols * static_cast<std::size_t>(o.col_step)];
    };
    const auto set = [&](auto derivative, auto second_derivative) {
      for (std::size_t e = 0; e < size_; ++e) {
        d[e] = derivative(e);
        dd[e] = second_derivative(e);
      }
    };
    switch (node.op) {
      case Op::kAdd:
        return set([&](auto e) { return a.d(e) + b.d(e); },
                   [&](auto e) { return a.dd(e) + b.dd(e); });
      case Op::kSubtract:
        return set([&](auto e) { return a.d(e) - b.d(e); },
                   [&](auto e) { return a.dd(e) - b.dd(e); });
      case Op::kScale:
        return set([&](auto e) { return B(node.factor) * a.d(e); },
                   [&](auto e) { return B(node.factor) * a.dd(e); });
      case Op::kHadamard:  // (a b)'' = a'' b + 2 a' b' + a b''
        return set([&](auto e) { return a.times_d(value(b, e), e) + b.times_d(value(a, e), e); },
                   [&](auto e) {
                     return a.times_dd(value(b, e), e) + b.times_dd(value(a, e), e) +
                            B(2) * a.d(e) * b.d(e);
                   });
      case Op::kDivide:  // y = a / b: y' = (a' - y b') / b, y'' = (a'' - 2 y' b' - y b'') / b
        return set([&](auto e) { return (a.d(e) - b.times_d(y[e], e)) / value(b, e); },
                   [&](auto e) {
                     return (a.dd(e) - b.times_d(B(2) * d[e], e) - b.times_dd(y[e], e)) /
                            value(b, e);
                   });
      case Op::kElementary:  // phi(a)'' = phi'' a'^2 + phi' a''
        return visit_elementary(node.function, node.factor, node.beta, [&](auto phi) {
          set([&](auto e) { return a.times_d(phi.df(a.values[e]), e); },
              [&](auto e) {
                return phi.ddf(a.values[e]) * a.d(e) * a.d(e) + a.times_dd(phi.df(a.values[e]), e);
              });
        });
      case Op::kSelect: {
        const Operand choice = operand(node.choice, node);
        const auto is_a = [&](std::size_t e) { return value(choice, e) != B(0); };
        return set([&](auto e) { return select(is_a(e), a.d(e), b.d(e)); },
                   [&](auto e) { return select(is_a(e), a.dd(e), b.dd(e)); });
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
  std::vector<B> series_;  // of each node of a chain: y', then y''
};

}  // namespace hesscope::detail
