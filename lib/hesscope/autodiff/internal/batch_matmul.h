// SPDX-License-Identifier: BSD-3-Clause
//
// For kernel sources only: matrix products of a batch, forward and backward.
#pragma once

#include <hesscope/autodiff/internal/batch_numbers.h>
#include <hesscope/autodiff/internal/batch_products.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

// A product of stacks, or of a stack with a matrix that all its layers share.
class BatchMatmul {
 public:
  BatchMatmul(BatchNumbers& numbers, std::int32_t i)
      : numbers_(numbers), node_(numbers.node(i)), i_(i) {
    const Graph::Node& a = numbers.node(node_.a);
    const Eigen::Index a_rows = node_.is_shared_a ? a.rows : a.rows / node_.stack;
    rows_ = static_cast<int>(node_.rows / node_.stack);
    inner_ = static_cast<int>(node_.transpose_a ? a_rows : a.cols);
    cols_ = static_cast<int>(node_.cols);
    packs_ = static_cast<int>(numbers.packs());
  }

  /// C = op(A) op(B)
  void forward() {
    for (Eigen::Index k = 0; k < node_.stack; ++k) {
      multiply<Store::kAssign>(
          result(false, k), left(false, k), right(false, k), rows_, inner_, cols_, packs_);
    }
  }

  /// op(A)bar += Cbar op(B)^T, then op(B)bar += op(A)^T Cbar: first A for the whole stack, then B.
  /// They may be the same node, whose adjoint is initialised by A's share.
  void reverse() {
    const detail::BatchNode& info = numbers_.info(i_);
    for (Eigen::Index k = 0; numbers_.info(node_.a).is_needed && k < node_.stack; ++k) {
      const bool is_first = info.a.is_first && (k == 0 || !node_.is_shared_a);
      const BatchMatrix factor = right(false, k).transposed();
      add(left(true, k), result(true, k), factor, rows_, cols_, inner_, is_first);
    }
    for (Eigen::Index k = 0; numbers_.info(node_.b).is_needed && k < node_.stack; ++k) {
      const bool is_first = info.b.is_first && (k == 0 || !node_.is_shared_b);
      const BatchMatrix factor = left(false, k).transposed();
      add(right(true, k), factor, result(true, k), inner_, rows_, cols_, is_first);
    }
  }

 private:
  using B = BatchNumbers::B;
  using S = BatchNumbers::S;

  // Matrix k of a node's stack, of its values or adjoints, optionally transposed.
  BatchMatrix matrix(std::int32_t i, bool is_adjoint, Eigen::Index k, bool is_transposed) {
    const Graph::Node& n = numbers_.node(i);
    const bool is_common = numbers_.info(i).is_common;
    const auto first = [&]<typename T>() {
      return reinterpret_cast<double*>(is_adjoint ? numbers_.adjoints<T>(i)
                                                  : numbers_.values<T>(i));
    };
    double* const begin =
        is_common ? first.template operator()<S>() : first.template operator()<B>();
    const Eigen::Index before = k * (n.rows / node_.stack) * n.cols;
    const BatchMatrix all{begin + before * (is_common ? 1 : kLanes),
                          is_common,
                          static_cast<int>(n.cols),
                          1,
                          is_common ? 0 : static_cast<int>(n.size())};
    return is_transposed ? all.transposed() : all;
  }

  BatchMatrix result(bool is_adjoint, Eigen::Index k) { return matrix(i_, is_adjoint, k, false); }

  BatchMatrix left(bool is_adjoint, Eigen::Index k) {
    return matrix(node_.a, is_adjoint, node_.is_shared_a ? 0 : k, node_.transpose_a);
  }

  BatchMatrix right(bool is_adjoint, Eigen::Index k) {
    return matrix(node_.b, is_adjoint, node_.is_shared_b ? 0 : k, node_.transpose_b);
  }

  // out = x y, or out += x y; if `out` is common, the sum over packs and lanes.
  void add(BatchMatrix out,
           BatchMatrix x,
           BatchMatrix y,
           int rows,
           int inner,
           int cols,
           bool is_first) const {
    if (out.is_shared) {
      add_sum(out, x, y, rows, inner, cols, packs_);
    } else if (is_first) {
      multiply<Store::kAssign>(out, x, y, rows, inner, cols, packs_);
    } else {
      multiply<Store::kAdd>(out, x, y, rows, inner, cols, packs_);
    }
  }

  BatchNumbers& numbers_;
  const Graph::Node& node_;
  std::int32_t i_;
  int rows_;
  int inner_;
  int cols_;
  int packs_;
};

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
