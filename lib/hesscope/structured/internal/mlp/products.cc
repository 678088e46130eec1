// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstring>

#include <hesscope/structured/internal/mlp/products.h>

namespace hesscope::detail {
namespace {

// Rows of a tile: their panels stay in a 1 MiB cache. Columns between two visits to H. Columns of a
// tile, about: enough of them to make up for packing the rows.
constexpr int kTileRows = 96;
constexpr int kBlockCols = 120;
constexpr long kTileCols = 1000;

static_assert(kTileRows % kPanelRows == 0 && kBlockCols % kPanelCols == 0);

// Entry e of zt for unit i of a layer is parameter base + i * step.
struct Place {
  long base;
  long step;
};

Place place(const MlpLayer& layer, int entry) {
  if (entry == layer.in) return {layer.bias, 1};
  return {layer.weight + entry, layer.in};
}

// A tile's results lie in H in runs of a fixed stride. The run of a line begins at
//   line.base + run.base + line.u * run.u + line.v * run.v.
// For curvatures, lines are rows of the tile and runs stretches of columns; for slopes the reverse.
struct Line {
  long base;
  long u;
  long v;
};

struct Run {
  int first;
  int size;
  long stride;
  long base;
  long u;
  long v;
};

class TileRunner {
 public:
  TileRunner(const MlpFactors& factors,
             const PackKernels& kernels,
             const MlpTile& tile,
             const MlpChunk& chunk,
             double* scratch,
             MlpTarget h)
      : factors_(factors),
        kernels_(kernels),
        tile_(tile),
        product_(*tile.product),
        m_(factors.layers()[static_cast<std::size_t>(product_.m)]),
        l_(factors.layers()[static_cast<std::size_t>(product_.l)]),
        chunk_(chunk),
        h_(h),
        row_size_(long{chunk.num_packs} * kPackSamples),
        num_rows_(std::min(kTileRows, static_cast<int>(product_.rows.size()) - tile.first_row)),
        row_panels_(scratch),
        column_panel_(row_panels_ + kTileRows * row_size_),
        results_(column_panel_ + kPanelCols * row_size_) {}

  void run() {
    pack_rows();
    place_rows();
    for (int b = tile_.first_b; b < tile_.end_b; ++b) {
      for (int e = product_.from_diagonal ? b : 0; e < product_.num_x; ++e) {
        add_column(e, b);
        if (num_cols_ == kBlockCols) finish_block();
      }
    }
    if (num_cols_ > 0) finish_block();
  }

 private:
  bool is_curvature() const { return product_.kind == MlpProduct::Kind::kCurvature; }

  const std::pair<int, int>& row(int r) const {
    return product_.rows[static_cast<std::size_t>(tile_.first_row) + static_cast<std::size_t>(r)];
  }

  const double* samples(int row) const { return chunk_.rows + row * row_size_; }

  void pack_rows() {
    const int padded_rows = (num_rows_ + kPanelRows - 1) / kPanelRows * kPanelRows;
    const long block_size = factors_.block_size() * kPackSamples;
    for (int k = 0; k < chunk_.num_packs; ++k) {
      const double* const matrix =
          chunk_.blocks + k * block_size + product_.first_entry * kPackSamples;
      // Blocks are too far apart for the processor to foresee the next.
      const long ahead = std::min(2, chunk_.num_packs - 1 - k) * block_size;
      for (int r = 0; r < padded_rows; ++r) {
        const auto [i, a] = row(std::min(r, num_rows_ - 1));
        const long panel = r / kPanelRows;
        double* const to = row_panels_ + panel * kPanelRows * row_size_ +
                           (long{k} * kPanelRows + r % kPanelRows) * kPackSamples;
        const double* const from = matrix + (long{i} * product_.row_length + a) * kPackSamples;
        __builtin_prefetch(from + ahead);
        std::memcpy(to, from, kPackSamples * sizeof(double));
      }
    }
  }

  void place_rows() {
    switch (product_.kind) {
      case MlpProduct::Kind::kCurvature:
        for (int r = 0; r < num_rows_; ++r) {
          const auto [i, a] = row(r);
          lines_.push_back({0, i, a});
        }
        return;
      case MlpProduct::Kind::kSlope:
        for (int r = 0; r < num_rows_; ++r) {
          const auto [j, a] = row(r);
          if (r == 0 || j == 0) runs_.push_back({r, 0, 1, j, a, 0});
          ++runs_.back().size;
        }
        return;
      case MlpProduct::Kind::kDiagonalSlope:
        const long stride = m_.in;
        runs_.push_back({0, num_rows_, stride, tile_.first_row * stride, 0, 0});
        return;
    }
  }

  void add_column(int e, int b) {
    x_[static_cast<std::size_t>(num_cols_)] = samples(product_.first_x + e);
    y_[static_cast<std::size_t>(num_cols_)] = samples(l_.z_row + b);
    const int in = m_.in;
    const Place col = place(l_, b);
    switch (product_.kind) {
      case MlpProduct::Kind::kCurvature:
        if (num_cols_ == 0 || b != last_b_ || e == in) {
          const Place row = place(m_, e);
          runs_.push_back(
              {num_cols_, 0, 1, row.base + h_.stride * col.base, row.step, h_.stride * col.step});
        }
        ++runs_.back().size;
        last_b_ = b;
        break;
      case MlpProduct::Kind::kSlope:
        lines_.push_back(
            {m_.weight + long{e} * in + h_.stride * col.base, h_.stride * col.step, 0});
        break;
      case MlpProduct::Kind::kDiagonalSlope:
        lines_.push_back({m_.weight + e + h_.stride * (col.base + e * col.step), 0, 0});
        break;
    }
    ++num_cols_;
  }

  void finish_block() {
    prefetch();
    multiply();
    write();
    if (is_curvature()) {
      runs_.clear();
    } else {
      lines_.clear();
    }
    num_cols_ = 0;
  }

  void multiply() {
    const int padded_cols = (num_cols_ + kPanelCols - 1) / kPanelCols * kPanelCols;
    for (int c = num_cols_; c < padded_cols; ++c) {
      x_[static_cast<std::size_t>(c)] = x_[static_cast<std::size_t>(num_cols_ - 1)];
      y_[static_cast<std::size_t>(c)] = y_[static_cast<std::size_t>(num_cols_ - 1)];
    }
    const int num_panels = (num_rows_ + kPanelRows - 1) / kPanelRows;
    const long row_stride = is_curvature() ? kBlockCols : 1;
    const long col_stride = is_curvature() ? 1 : kTileRows;
    for (int c = 0; c < padded_cols; c += kPanelCols) {
      const int wanted = std::min(kPanelCols, num_cols_ - c);
      kernels_.fill_columns(
          column_panel_, x_.data() + c, y_.data() + c, kPackSamples, wanted, chunk_.num_packs);
      kernels_.inner_products(results_ + c * col_stride,
                              row_stride,
                              col_stride,
                              row_panels_,
                              num_panels,
                              column_panel_,
                              wanted,
                              chunk_.num_packs);
    }
  }

  // Calls visit(first result, first entry of H, run) for each line and run.
  template <typename Visitor>
  void for_each_run(Visitor visit) const {
    const double* results = results_;
    for (const Line& line : lines_) {
      for (const Run& run : runs_) {
        visit(results + run.first,
              h_.data + line.base + run.base + line.u * run.u + line.v * run.v,
              run);
      }
      results += is_curvature() ? kBlockCols : kTileRows;
    }
  }

  // H is far larger than any cache.
  void prefetch() const {
    constexpr int kLine = 64 / sizeof(double);
    for_each_run([](const double* /*from*/, const double* to, const Run& run) {
      if (run.stride != 1) return;
      for (int i = 0; i < run.size; i += kLine) __builtin_prefetch(to + i, 1, 2);
      __builtin_prefetch(to + run.size - 1, 1, 2);
    });
  }

  void write() const {
    for_each_run([this](const double* from, double* to, const Run& run) {
      if (h_.is_new) {
        for (int i = 0; i < run.size; ++i) to[i * run.stride] = from[i];
      } else {
        for (int i = 0; i < run.size; ++i) to[i * run.stride] += from[i];
      }
    });
  }

  const MlpFactors& factors_;
  const PackKernels& kernels_;
  const MlpTile& tile_;
  const MlpProduct& product_;
  const MlpLayer& m_;
  const MlpLayer& l_;
  const MlpChunk& chunk_;
  MlpTarget h_;
  long row_size_;
  int num_rows_;
  double* row_panels_;
  double* column_panel_;
  double* results_;

  std::vector<Line> lines_;
  std::vector<Run> runs_;

  // The columns of the block at hand.
  int num_cols_ = 0;
  int last_b_ = 0;
  std::array<const double*, kBlockCols> x_;
  std::array<const double*, kBlockCols> y_;
};

}  // namespace

std::vector<MlpProduct> mlp_curvature_products(const MlpFactors& factors) {
  std::vector<MlpProduct> products;
  const auto& layers = factors.layers();
  for (std::size_t m = 0; m < layers.size(); ++m) {
    for (std::size_t l = 0; l <= m; ++l) {
      MlpProduct product{.kind = MlpProduct::Kind::kCurvature,
                         .m = static_cast<int>(m),
                         .l = static_cast<int>(l),
                         .first_entry = layers[m].curvature[l],
                         .row_length = layers[l].out,
                         .first_x = layers[m].z_row,
                         .num_x = layers[m].in + 1,
                         .from_diagonal = l == m};
      for (int i = 0; i < layers[m].out; ++i) {
        const int num_a = l == m ? i + 1 : layers[l].out;
        for (int a = 0; a < num_a; ++a) product.rows.emplace_back(i, a);
      }
      products.push_back(std::move(product));
    }
  }
  return products;
}

std::vector<MlpProduct> mlp_slope_products(const MlpFactors& factors) {
  std::vector<MlpProduct> products;
  const auto& layers = factors.layers();
  for (std::size_t m = 1; m < layers.size(); ++m) {
    MlpProduct diagonal{.kind = MlpProduct::Kind::kDiagonalSlope,
                        .m = static_cast<int>(m),
                        .l = static_cast<int>(m) - 1,
                        .first_entry = layers[m].delta,
                        .row_length = 1,
                        .first_x = layers[m - 1].slope_row,
                        .num_x = layers[m].in,
                        .from_diagonal = false};
    for (int i = 0; i < layers[m].out; ++i) diagonal.rows.emplace_back(i, 0);
    products.push_back(std::move(diagonal));
    for (std::size_t l = 0; l + 1 < m; ++l) {
      MlpProduct product{.kind = MlpProduct::Kind::kSlope,
                         .m = static_cast<int>(m),
                         .l = static_cast<int>(l),
                         .first_entry = layers[m].jacobian[l],
                         .row_length = layers[l].out,
                         .first_x = layers[m].delta_row,
                         .num_x = layers[m].out,
                         .from_diagonal = false};
      for (int a = 0; a < layers[l].out; ++a) {
        for (int j = 0; j < layers[m].in; ++j) product.rows.emplace_back(j, a);
      }
      products.push_back(std::move(product));
    }
  }
  return products;
}

MlpColumns mlp_columns(const MlpFactors& factors,
                       std::span<const std::vector<MlpProduct>* const> products) {
  MlpColumns columns;
  int count = 0;
  for (const MlpLayer& layer : factors.layers()) {
    columns.first.push_back(count);
    count += layer.in + 1;
  }
  columns.first.push_back(count);
  columns.work.assign(static_cast<std::size_t>(count), 0.0);
  for (const std::vector<MlpProduct>* list : products) {
    for (const MlpProduct& product : *list) {
      const auto l = static_cast<std::size_t>(product.l);
      for (int b = 0; b <= factors.layers()[l].in; ++b) {
        const int cols = product.num_x - (product.from_diagonal ? b : 0);
        columns.work[static_cast<std::size_t>(columns.first[l] + b)] +=
            static_cast<double>(std::ssize(product.rows) * cols);
      }
    }
  }
  return columns;
}

std::vector<MlpTile> mlp_tiles(const MlpFactors& factors,
                               const std::vector<MlpProduct>& products,
                               const MlpColumns& columns,
                               const BlockRange& own) {
  std::vector<MlpTile> tiles;
  for (const MlpProduct& product : products) {
    const auto l = static_cast<std::size_t>(product.l);
    const auto within = [&](Eigen::Index column) {
      return static_cast<int>(
          std::clamp<Eigen::Index>(column - columns.first[l], 0, factors.layers()[l].in + 1));
    };
    const int num_b = within(own.end);
    const auto num_rows = static_cast<int>(product.rows.size());
    for (int first_b = within(own.begin), end_b = first_b; first_b < num_b; first_b = end_b) {
      long cols = 0;
      for (; end_b < num_b && cols < kTileCols; ++end_b) {
        cols += product.num_x - (product.from_diagonal ? end_b : 0);
      }
      for (int row = 0; row < num_rows; row += kTileRows) {
        const int rows = std::min(kTileRows, num_rows - row);
        tiles.push_back({&product, row, first_b, end_b, rows * cols});
      }
    }
  }
  return tiles;
}

long mlp_tile_scratch(int num_packs) {
  return long{kTileRows + kPanelCols} * num_packs * kPackSamples + long{kTileRows} * kBlockCols;
}

void run_mlp_tile(const MlpFactors& factors,
                  const PackKernels& kernels,
                  const MlpTile& tile,
                  const MlpChunk& chunk,
                  double* scratch,
                  MlpTarget h) {
  TileRunner(factors, kernels, tile, chunk, scratch, h).run();
}

}  // namespace hesscope::detail
