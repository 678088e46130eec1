// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/objective/internal/shift_families.h>
#include <hesscope/objective/internal/unit_views.h>
#include <hesscope/objective/internal/vanishing_sums.h>

namespace hesscope::detail {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// What is without effect has gradients of this part of the largest, by rounding.
constexpr double kRoundingShare = 1e-12;

bool is_shift(const SearchPoints& search, const std::vector<Index>& entries) {
  double largest = 0;
  for (const GradientPoint& point : search.points) {
    for (Index s = 0; s < point.gradients.cols(); ++s) {
      double sum = 0;
      double size = 0;
      for (const Index e : entries) {
        sum += point.gradients(e, s);
        size += std::abs(point.gradients(e, s));
      }
      if (!(std::abs(sum) <= search.tolerance * size)) return false;
      largest = std::max(largest, size);
    }
  }
  return largest > 0;
}

// At all points and for all samples, and not all 0.
bool have_equal_slopes(const SearchPoints& search, Index x, Index y) {
  double largest = 0;
  for (const GradientPoint& point : search.points) {
    const double scale = point.gradients.cwiseAbs().maxCoeff();
    for (Index s = 0; s < point.gradients.cols(); ++s) {
      const double size = std::abs(point.gradients(x, s)) + std::abs(point.gradients(y, s));
      const double difference = std::abs(point.gradients(x, s) - point.gradients(y, s));
      if (!(difference <= search.tolerance * size)) return false;
      largest = std::max(largest, size / scale);
    }
  }
  return largest > kRoundingShare;
}

// At some point for some sample, if all but rounding.
bool is_without_effect(const SearchPoints& search, Index e) {
  bool is_seen = false;
  for (const GradientPoint& point : search.points) {
    for (Index s = 0; s < point.gradients.cols(); ++s) {
      const double slope = std::abs(point.gradients(e, s));
      const double size = point.gradients.col(s).cwiseAbs().maxCoeff<Eigen::PropagateNaN>();
      if (!(slope <= kRoundingShare * size)) return false;
      is_seen = is_seen || slope > 0;
    }
  }
  return is_seen;  // what is 0 throughout is a dead parameter
}

// --- shared shifts ---

// A part of a tensor to which a vector may be added: entry k of it to first + k + r stride for each
// of `count` rows.
struct Rows {
  const ParameterBlock* block;
  Index first;
  Index stride;
  Index count;
};

// A vector times a matrix, added to a bias.
struct Product {
  const ParameterBlock* matrix;  // rows x width
  const ParameterBlock* bias;    // rows
};

struct ShiftTerms {
  std::vector<Rows> rows;
  std::vector<Product> products;

  std::size_t size() const { return rows.size() + products.size(); }
};

constexpr Index kMaxRows = 16;  // of a tensor that are told apart
constexpr std::size_t kMaxShiftTerms = 160;

ShiftTerms shift_terms(std::span<const ParameterBlock> blocks, Index width) {
  ShiftTerms terms;
  for (const ParameterBlock& block : blocks) {
    if (block.shape.empty() || block.size == 0) continue;
    const Index last = block.shape.back();
    if (last == width || (block.shape.size() == 1 && last % width == 0)) {
      const Index count = block.size / width;
      if (count <= kMaxRows) {
        for (Index r = 0; r < count; ++r) {
          terms.rows.push_back({&block, block.offset + r * width, width, 1});
        }
      } else {
        terms.rows.push_back({&block, block.offset, width, count});
      }
    }
    if (block.shape.size() != 2 || last != width) continue;
    for (const ParameterBlock& bias : blocks) {
      if (bias.shape.size() == 1 && bias.size == block.shape.front()) {
        terms.products.push_back({&block, &bias});
      }
    }
  }
  if (terms.size() > kMaxShiftTerms) return {};
  return terms;
}

std::set<Index> widths_of(std::span<const ParameterBlock> blocks) {
  std::set<Index> widths;
  for (const ParameterBlock& block : blocks) {
    if (block.size > 0 && !block.shape.empty() && block.shape.back() > 1)
      widths.insert(block.shape.back());
  }
  return widths;
}

// Terms at entry k of the vector that is added.
SumTerms sums_at(const ShiftTerms& terms, const SearchPoints& search, Index k) {
  SumTerms sums{MatrixXd(search.num_rows(), static_cast<Index>(terms.size())),
                MatrixXd(search.num_rows(), static_cast<Index>(terms.size())),
                search.num_finding_rows()};
  Index row = 0;
  for (const GradientPoint& point : search.points) {
    for (Index s = 0; s < point.gradients.cols(); ++s, ++row) {
      const auto gradient = point.gradients.col(s);
      Index t = 0;
      for (const Rows& rows : terms.rows) {
        double sum = 0;
        double size = 0;
        for (Index r = 0; r < rows.count; ++r) {
          const double slope = gradient(rows.first + k + r * rows.stride);
          sum += slope;
          size += std::abs(slope);
        }
        sums.values(row, t) = sum;
        sums.magnitudes(row, t++) = size;
      }
      for (const Product& product : terms.products) {
        const Index width = product.matrix->size / product.bias->size;
        double sum = 0;
        double size = 0;
        for (Index i = 0; i < product.bias->size; ++i) {
          const double term = point.theta(product.matrix->offset + i * width + k) *
                              gradient(product.bias->offset + i);
          sum += term;
          size += std::abs(term);
        }
        sums.values(row, t) = sum;
        sums.magnitudes(row, t++) = size;
      }
    }
  }
  return sums;
}

AffineGenerator generator_of(const ShiftTerms& terms, const VectorXd& coefficients, Index k) {
  AffineGenerator generator;
  Index t = 0;
  for (const Rows& rows : terms.rows) {
    const double c = coefficients(t++);
    for (Index r = 0; c != 0 && r < rows.count; ++r) {
      generator.constant.push_back({rows.first + k + r * rows.stride, c});
    }
  }
  for (const Product& product : terms.products) {
    const double c = coefficients(t++);
    const Index width = product.matrix->size / product.bias->size;
    for (Index i = 0; c != 0 && i < product.bias->size; ++i) {
      generator.linear.push_back(
          {product.bias->offset + i, product.matrix->offset + i * width + k, c});
    }
  }
  return generator;
}

// Tensors that a sum is of.
std::vector<const ParameterBlock*> blocks_of(const ShiftTerms& terms,
                                             const VectorXd& coefficients) {
  std::vector<const ParameterBlock*> blocks;
  const auto add = [&](const ParameterBlock* block) {
    if (std::ranges::find(blocks, block) == blocks.end()) blocks.push_back(block);
  };
  Index t = 0;
  for (const Rows& rows : terms.rows) {
    if (coefficients(t++) != 0) add(rows.block);
  }
  for (const Product& product : terms.products) {
    if (coefficients(t++) == 0) continue;
    add(product.matrix);
    add(product.bias);
  }
  return blocks;
}

std::string name_of(const std::vector<const ParameterBlock*>& blocks) {
  std::vector<std::string> names;
  for (const ParameterBlock* block : blocks) names.push_back(block->name);
  return fmt::format("shift between {}", fmt::join(names, ", "));
}

// Whether other families have it: a shift along an axis of one tensor, or of two entries.
bool is_plain(const ShiftTerms& terms, const VectorXd& coefficients) {
  const Index used = (coefficients.array() != 0).count();
  const Index of_rows = (coefficients.head(std::ssize(terms.rows)).array() != 0).count();
  if (used != of_rows) return false;
  const std::vector<const ParameterBlock*> blocks = blocks_of(terms, coefficients);
  if (blocks.size() > 1) return used == 2 && blocks[0]->size == blocks[1]->size;
  const Index all = std::ranges::count(terms.rows, blocks[0], &Rows::block);
  return used == all && (coefficients.array() == 1).count() == all;
}

}  // namespace

std::size_t most_shift_terms(std::span<const ParameterBlock> blocks) {
  std::size_t most = 0;
  for (const Index width : widths_of(blocks)) {
    most = std::max(most, shift_terms(blocks, width).size());
  }
  return most;
}

std::vector<Invariance> axis_shifts(std::span<const ParameterBlock> blocks,
                                    const SearchPoints& points) {
  std::vector<std::vector<Index>> found;
  for (const ParameterBlock& block : blocks) {
    if (block.size == 0) continue;
    Index front = 1;
    for (const std::int64_t extent : block.shape) {
      const UnitView view{
          &block, block.offset, front, extent, 0, extent, block.size / (front * extent)};
      for (Index f = 0; extent > 1 && f < view.front; ++f) {
        for (Index b = 0; b < view.back; ++b) {
          std::vector<Index> entries;
          for (Index i = 0; i < extent; ++i) entries.push_back(view.entry(f, i, b));
          if (is_shift(points, entries)) found.push_back(std::move(entries));
        }
      }
      front *= extent;
    }
  }
  if (found.empty()) return {};
  const auto shifts = std::make_shared<const std::vector<std::vector<Index>>>(std::move(found));
  return {{.name = "shift along an axis",
           .num_generators = static_cast<Index>(shifts->size()),
           .generator = [shifts](Index k) {
             AffineGenerator generator;
             for (const Index e : (*shifts)[static_cast<std::size_t>(k)]) {
               generator.constant.push_back({e, 1.0});
             }
             return generator;
           }}};
}

std::vector<Invariance> pair_shifts(std::span<const ParameterBlock> blocks,
                                    const SearchPoints& points) {
  std::vector<Invariance> found;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t j = i + 1; j < blocks.size(); ++j) {
      const ParameterBlock& a = blocks[i];
      const ParameterBlock& b = blocks[j];
      if (a.size != b.size) continue;
      std::vector<Index> entries;
      for (Index e = 0; e < a.size; ++e) {
        if (have_equal_slopes(points, a.offset + e, b.offset + e)) entries.push_back(e);
      }
      if (entries.empty()) continue;
      const auto count = static_cast<Index>(entries.size());
      found.push_back(
          {.name = fmt::format("sum of {} and {}", a.name, b.name),
           .num_generators = count,
           .generator = [entries = std::move(entries), x = a.offset, y = b.offset](Index k) {
             const Index e = entries[static_cast<std::size_t>(k)];
             AffineGenerator generator;
             generator.constant = {{x + e, 1.0}, {y + e, -1.0}};
             return generator;
           }});
    }
  }
  return found;
}

std::vector<Invariance> shared_shifts(std::span<const ParameterBlock> blocks,
                                      const SearchPoints& points) {
  std::vector<Invariance> found;
  for (const Index width : widths_of(blocks)) {
    const auto terms = std::make_shared<const ShiftTerms>(shift_terms(blocks, width));
    if (terms->size() < 2) continue;
    std::map<std::vector<double>, std::vector<Index>> families;
    for (Index k = 0; k < width; ++k) {
      for (const VectorXd& coefficients :
           vanishing_sums(sums_at(*terms, points, k), points.tolerance)) {
        if (is_plain(*terms, coefficients)) continue;
        families[{coefficients.begin(), coefficients.end()}].push_back(k);
      }
    }
    for (auto& [key, entries] : families) {
      const VectorXd coefficients =
          Eigen::Map<const VectorXd>(key.data(), static_cast<Index>(key.size()));
      const auto count = static_cast<Index>(entries.size());
      found.push_back({.name = name_of(blocks_of(*terms, coefficients)),
                       .num_generators = count,
                       .generator = [terms, coefficients, entries = std::move(entries)](Index k) {
                         return generator_of(
                             *terms, coefficients, entries[static_cast<std::size_t>(k)]);
                       }});
    }
  }
  return found;
}

std::vector<Invariance> shifts_without_effect(std::span<const ParameterBlock> blocks,
                                              const SearchPoints& points) {
  std::vector<Invariance> found;
  for (const ParameterBlock& block : blocks) {
    std::vector<Index> entries;
    for (Index e = block.offset; e < block.offset + block.size; ++e) {
      if (is_without_effect(points, e)) entries.push_back(e);
    }
    if (entries.empty()) continue;
    const auto count = static_cast<Index>(entries.size());
    found.push_back({.name = fmt::format("shift of {} without effect", block.name),
                     .num_generators = count,
                     .generator = [entries = std::move(entries)](Index k) {
                       AffineGenerator generator;
                       generator.constant = {{entries[static_cast<std::size_t>(k)], 1.0}};
                       return generator;
                     }});
  }
  return found;
}

}  // namespace hesscope::detail
