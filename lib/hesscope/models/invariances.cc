// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/models/invariances.h>

namespace hesscope {
namespace {

using Eigen::Index;

// Row `to` += factor * row `from`.
void add_row(AffineGenerator& generator, const MatrixView& x, Index to, Index from, double factor) {
  for (Index c = 0; c < x.cols; ++c) {
    generator.linear.push_back({x.index(to, c), x.index(from, c), factor});
  }
}

void scale(AffineGenerator& generator, const MatrixView& x, double factor) {
  for (Index r = 0; r < x.rows; ++r) add_row(generator, x, r, r, factor);
}

// The common number of rows.
Index common_rows(const char* function, const std::vector<MatrixView>& matrices) {
  const bool agree =
      !matrices.empty() && std::all_of(matrices.begin(), matrices.end(), [&](const MatrixView& x) {
        return x.rows == matrices.front().rows;
      });
  if (!agree) {
    throw PreconditionError(
        fmt::format("{}: the matrices must have one common number of rows", function));
  }
  return matrices.front().rows;
}

struct Pair {
  Index i;
  Index j;
};

// The k-th pair with 0 <= i < j, ordered by j.
Pair pair_below(Index k) {
  Index j = 1;
  while (k >= j) k -= j++;
  return {k, j};
}

Index num_pairs(Index m) { return m * (m - 1) / 2; }

}  // namespace

MatrixView matrix_view(const Model& model, const std::string& name, Index i) {
  const auto found = std::find_if(model.parameters.begin(),
                                  model.parameters.end(),
                                  [&](const ParameterBlock& block) { return block.name == name; });
  if (found == model.parameters.end()) {
    throw PreconditionError(
        fmt::format("matrix_view: the {} model has no parameter '{}'", model.kind, name));
  }
  const auto& shape = found->shape;
  const Index count = shape.size() == 3 ? shape[0] : 1;
  if (i < 0 || i >= count) {
    throw PreconditionError(
        fmt::format("matrix_view: parameter '{}' has {} matrices, got index {}", name, count, i));
  }
  const Index cols = shape.size() == 1 ? 1 : shape.back();
  const Index rows = found->size / (count * cols);
  return {found->offset + i * rows * cols, rows, cols, cols, 1};
}

Invariance rescaling(const std::vector<MatrixView>& grown, const std::vector<MatrixView>& shrunk) {
  return {"rescaling", 1, [grown, shrunk](Index /*k*/) {
            AffineGenerator generator;
            for (const MatrixView& x : grown) scale(generator, x, 1.0);
            for (const MatrixView& y : shrunk) scale(generator, y, -1.0);
            return generator;
          }};
}

Invariance rescaling_of_units(const MatrixView& w, const MatrixView& b, const MatrixView& v) {
  if (b.rows != w.rows || b.cols > 1 || v.cols != w.rows) {
    throw PreconditionError(
        fmt::format("rescaling_of_units: {}x{} before the units does not fit {}x{} biases and "
                    "{}x{} after them",
                    w.rows,
                    w.cols,
                    b.rows,
                    b.cols,
                    v.rows,
                    v.cols));
  }
  std::vector<Invariance> units;
  for (Index r = 0; r < w.rows; ++r) {
    units.push_back(
        rescaling({w.middle_rows(r, 1), b.middle_rows(r, 1)}, {v.transposed().middle_rows(r, 1)}));
  }
  return joined("rescaling of units", std::move(units));
}

Invariance change_of_basis(const std::vector<MatrixView>& x, const std::vector<MatrixView>& y) {
  const Index m = common_rows("change_of_basis", x);
  if (common_rows("change_of_basis", y) != m) {
    throw PreconditionError("change_of_basis: x and y must have one common number of rows");
  }
  return {"change of basis", m * m, [x, y, m](Index k) {
            const Index i = k / m;
            const Index j = k % m;
            AffineGenerator generator;
            for (const MatrixView& matrix : x) add_row(generator, matrix, i, j, 1.0);
            for (const MatrixView& matrix : y) add_row(generator, matrix, j, i, -1.0);
            return generator;
          }};
}

Invariance rotation(const std::vector<MatrixView>& x) {
  const Index m = common_rows("rotation", x);
  return {"rotation", num_pairs(m), [x](Index k) {
            const auto [i, j] = pair_below(k);
            AffineGenerator generator;
            for (const MatrixView& matrix : x) {
              add_row(generator, matrix, i, j, 1.0);
              add_row(generator, matrix, j, i, -1.0);
            }
            return generator;
          }};
}

Invariance addition_across(const std::vector<MatrixView>& x, const MatrixView& y) {
  const Index m = common_rows("addition_across", x);
  if (y.rows != m || y.cols != 1) {
    throw PreconditionError(fmt::format(
        "addition_across: y must be a column of {} entries, got {}x{}", m, y.rows, y.cols));
  }
  std::vector<Invariance> parts;
  for (const MatrixView& matrix : x) {
    const Index pairs = num_pairs(m);
    parts.push_back({"", pairs * matrix.cols, [matrix, y, pairs](Index k) {
                       const auto [i, j] = pair_below(k % pairs);
                       const Index c = k / pairs;
                       AffineGenerator generator;
                       generator.linear = {{matrix.index(i, c), y.index(j, 0), 1.0},
                                           {matrix.index(j, c), y.index(i, 0), -1.0}};
                       return generator;
                     }});
  }
  return joined("addition across a vector", std::move(parts));
}

Invariance translation(const MatrixView& a, const MatrixView& w, const MatrixView& b) {
  if (a.cols != 1 || b.cols != 1 || w.cols != a.rows || w.rows != b.rows) {
    throw PreconditionError(
        fmt::format("translation: w must be (rows of b) x (rows of a), got {}x{} for {}x{} and "
                    "{}x{}",
                    w.rows,
                    w.cols,
                    b.rows,
                    b.cols,
                    a.rows,
                    a.cols));
  }
  return {"translation", a.rows, [a, w, b](Index k) {
            AffineGenerator generator;
            generator.constant.push_back({a.index(k, 0), 1.0});
            for (Index r = 0; r < b.rows; ++r) {
              generator.linear.push_back({b.index(r, 0), w.index(r, k), -1.0});
            }
            return generator;
          }};
}

Invariance shifts(std::vector<std::vector<AffineGenerator::Constant>> directions) {
  const auto count = static_cast<Index>(directions.size());
  return {"shift", count, [directions = std::move(directions)](Index k) {
            return AffineGenerator{{}, directions[static_cast<std::size_t>(k)]};
          }};
}

Invariance shift_of_all_rows(const MatrixView& x, const MatrixView& b) {
  std::vector<std::vector<AffineGenerator::Constant>> directions;
  for (const MatrixView& matrix : {x, b}) {
    for (Index c = 0; c < matrix.cols; ++c) {
      auto& direction = directions.emplace_back();
      for (Index r = 0; r < matrix.rows; ++r) direction.push_back({matrix.index(r, c), 1.0});
    }
  }
  return shifts(std::move(directions));
}

Invariance joined(std::string name, std::vector<Invariance> parts) {
  std::vector<Index> first;  // generator of each part
  Index total = 0;
  for (const Invariance& part : parts) {
    first.push_back(total);
    total += part.num_generators;
  }
  return {std::move(name), total, [parts = std::move(parts), first = std::move(first)](Index k) {
            // The last part that begins at or before k; empty parts begin where the next one does.
            const auto after = std::upper_bound(first.begin(), first.end(), k);
            const auto part = static_cast<std::size_t>(after - first.begin()) - 1;
            return parts[part].generator(k - first[part]);
          }};
}

}  // namespace hesscope
