// SPDX-License-Identifier: BSD-3-Clause
//
// Attention as loops over samples, heads, queries and keys.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <vector>

#include <hesscope/core/constants.h>

namespace hesscope::test {

/// Tensors (samples, heads, length, size).
struct Heads {
  int samples = 1;
  int query_heads = 1;
  int key_heads = 1;
  int queries = 1;
  int keys = 1;
  int size = 1;
  int value_size = 1;
  double scale = 1;
  double softcap = 0;
  bool heads_last = false;  ///< tensors are (samples, length, heads, size)

  int place(int heads, int length, int width, int b, int h, int i, int e) const {
    return heads_last ? ((b * length + i) * heads + h) * width + e
                      : ((b * heads + h) * length + i) * width + e;
  }

  int num_queries() const { return samples * query_heads * queries * size; }

  int num_keys() const { return samples * key_heads * keys * size; }
};

/// What a mask adds to the score of query i and key j in a head of a sample; -inf leaves it out.
template <typename T>
using Mask = std::function<T(int sample, int head, int i, int j)>;

/// softmax(scale Q K^T + mask) V, the scores s capped as softcap tanh(s / softcap) where that is
/// positive; in the order of its entries.
/// @param q, k, v  the entries by their places.
template <typename T, typename Q, typename K, typename V>
std::vector<T> attended(
    const Heads& g, const Q& q, const K& k, const V& v, const Mask<T>& mask = {}) {
  using std::exp, std::tanh;
  std::vector<T> y(static_cast<std::size_t>(g.samples * g.query_heads * g.queries * g.value_size),
                   T(0.0));
  for (int b = 0; b < g.samples; ++b)
    for (int h = 0; h < g.query_heads; ++h)
      for (int i = 0; i < g.queries; ++i) {
        const int head = h * g.key_heads / g.query_heads;
        std::vector<T> weights;
        T total(0.0);
        for (int j = 0; j < g.keys; ++j) {
          T score(0.0);
          for (int e = 0; e < g.size; ++e) {
            score += T(q(g.place(g.query_heads, g.queries, g.size, b, h, i, e))) *
                     T(k(g.place(g.key_heads, g.keys, g.size, b, head, j, e)));
          }
          score *= T(g.scale);
          if (g.softcap > 0) score = T(g.softcap) * T(tanh(T(score / T(g.softcap))));
          const T added = mask ? mask(b, h, i, j) : T(0.0);
          weights.push_back(added == T(-kInfinity) ? T(0.0) : T(exp(T(score + added))));
          total += weights.back();
        }
        for (int j = 0; j < g.keys; ++j)
          for (int e = 0; e < g.value_size; ++e) {
            y[static_cast<std::size_t>(
                g.place(g.query_heads, g.queries, g.value_size, b, h, i, e))] +=
                weights[static_cast<std::size_t>(j)] / total *
                T(v(g.place(g.key_heads, g.keys, g.value_size, b, head, j, e)));
          }
      }
  return y;
}

/// Queries, keys and values are the parameters, in this order, and a mask is behind them.
inline auto of_parameters(const Heads& g, bool has_mask = false) {
  return [g, has_mask](const auto& theta, const double*) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    const int values = g.num_queries() + g.num_keys();
    const int masks = values + g.samples * g.key_heads * g.keys * g.value_size;
    const Mask<T> mask = [&](int, int, int i, int j) { return T(theta(masks + i * g.keys + j)); };
    return attended<T>(
        g,
        [&](int e) { return theta(e); },
        [&](int e) { return theta(g.num_queries() + e); },
        [&](int e) { return theta(values + e); },
        has_mask ? mask : Mask<T>());
  };
}

/// The same with queries from data.
inline auto of_data(const Heads& g) {
  return [g](const auto& theta, const double* x) {
    using T = typename std::decay_t<decltype(theta)>::Scalar;
    return attended<T>(
        g,
        [&](int e) { return x[e]; },
        [&](int e) { return theta(e); },
        [&](int e) { return theta(g.num_keys() + e); });
  };
}

/// What a causal mask adds, `past` keys being before the first query.
template <typename T>
T causal(int i, int j, int past = 0) {
  return T(j > past + i ? -kInfinity : 0.0);
}

}  // namespace hesscope::test
