// SPDX-License-Identifier: BSD-3-Clause
//
// Indices from data: entries of a record in (-1, 1) are turned into whole numbers of [0, count).
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/operator_fixture.h"

namespace hesscope::test {

/// The index that an entry x of a record means: floor(|x| count).
inline Eigen::Index index_at(double x, std::int64_t count) {
  return static_cast<Eigen::Index>(std::floor(std::abs(x) * static_cast<double>(count)));
}

/// The next input: (N, shape) such indices from the next entries of the record.
inline void add_indices(OperatorFixture& op,
                        const std::vector<std::int64_t>& shape,
                        std::int64_t count) {
  onnx::Axes axes = onnx::plain_axes(shape);
  axes.insert(axes.begin(), onnx::kBatchAxis);
  Graph& graph = op.graph();
  const Var entries = graph.input(graph.record_size(), onnx::size_of(axes), 1);
  const Var whole = elementary(Elementary::kFloor, static_cast<double>(count) * abs(entries));
  op.value({.kind = onnx::ElementKind::kInteger, .axes = axes, .var = whole});
}

}  // namespace hesscope::test
