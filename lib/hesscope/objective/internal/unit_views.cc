// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>

#include <hesscope/objective/internal/unit_views.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;

// More equal parts of an axis, or matrices of a stack, than these are not told apart.
constexpr Index kMaxParts = 12;

// A block, or one matrix of it.
struct Tensor {
  const ParameterBlock* block;
  Index offset;
  std::span<const std::int64_t> shape;
  Index size;
};

std::vector<Tensor> tensors_of(const ParameterBlock& block) {
  const std::span<const std::int64_t> shape = block.shape;
  std::vector<Tensor> tensors = {{&block, block.offset, shape, block.size}};
  if (shape.size() != 3 || shape[0] == 1 || shape[0] > kMaxParts) return tensors;
  const Index size = block.size / shape[0];
  for (Index i = 0; i < shape[0]; ++i) {
    tensors.push_back({&block, block.offset + i * size, shape.subspan(1), size});
  }
  return tensors;
}

// All ways to see units on an axis of a tensor.
void add_views(const Tensor& tensor,
               Index units,
               Index max_wide_parts,
               std::vector<UnitView>& views) {
  const auto [block, offset, shape, size] = tensor;
  if (units == 1) {
    views.push_back({block, offset, 1, 1, 0, 1, size});
    return;
  }
  Index front = 1;
  for (const std::int64_t extent : shape) {
    const Index back = size / (front * extent);
    const Index parts = extent / units;
    if (extent % units == 0) {
      if (parts <= kMaxParts) {
        for (Index p = 0; p < parts; ++p) {
          views.push_back({block, offset, front, extent, p * units, units, back});
        }
      } else {
        views.push_back({block, offset, front * parts, units, 0, units, back});
      }
      // Wider units: of the whole axis, or of parts of it.
      for (Index whole = 1; whole <= max_wide_parts && whole < parts; ++whole) {
        if (parts % whole != 0) continue;
        const Index width = parts / whole;
        for (Index p = 0; p < whole; ++p) {
          views.push_back(
              {block, offset, front, whole * units, p * units, units, width * back, width});
        }
      }
    }
    front *= extent;
  }
}

}  // namespace

Eigen::MatrixXd UnitView::slices(const Eigen::Ref<const Eigen::VectorXd>& theta) const {
  Eigen::MatrixXd rows(units, front * back);
  for (Index f = 0; f < front; ++f) {
    for (Index i = 0; i < units; ++i) {
      for (Index b = 0; b < back; ++b) rows(i, f * back + b) = theta(entry(f, i, b));
    }
  }
  return rows;
}

std::vector<UnitView> unit_views(std::span<const ParameterBlock> blocks,
                                 Index units,
                                 Index max_wide_parts) {
  std::vector<UnitView> views;
  for (const ParameterBlock& block : blocks) {
    if (block.size == 0) continue;
    for (const Tensor& tensor : tensors_of(block)) add_views(tensor, units, max_wide_parts, views);
  }
  return views;
}

std::set<Index> unit_counts(std::span<const ParameterBlock> blocks) {
  std::set<Index> counts = {1};
  for (const ParameterBlock& block : blocks) {
    if (block.size == 0) continue;
    for (const std::int64_t extent : block.shape) {
      for (Index parts = 1; parts <= kMaxParts; ++parts) {
        if (extent % parts == 0 && extent / parts > 1) counts.insert(extent / parts);
      }
    }
  }
  return counts;
}

}  // namespace hesscope::detail
