// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <hesscope/core/huge_pages.h>
#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/linalg/internal/triangles.h>
#include <hesscope/objective/internal/gauss_newton_mean.h>
#include <hesscope/simd/internal/aligned_buffer.h>
#include <hesscope/simd/internal/pack_kernels.h>

namespace hesscope::detail {
namespace {

static_assert(Sweep::kPackSamples == kPackSamples);

// Edge of a tile of G.
constexpr long kTile = 48;
static_assert(kTile % kPanelRows == 0 && kTile % kPanelCols == 0);

// Packs times entries of the prediction in a chunk, at most, if one pack has fewer: the panels of a
// tile then take 576 KiB.
constexpr long kMaxInner = 128;

const Graph::Node& prediction_of(const Graph& graph) {
  return graph.nodes()[static_cast<std::size_t>(graph.prediction())];
}

// Rows [row, row + kPanelRows) of a factor as one panel; rows from n on are zero.
void pack_rows(double* to, const double* factor, long n, long row, long inner) {
  const auto present = static_cast<std::size_t>(std::clamp(n - row, 0L, long{kPanelRows}));
  constexpr std::size_t size = kPanelRows;
  for (long q = 0; q < inner; ++q) {
    double* end = to + present * kPackSamples;
    std::memcpy(to, factor + (q * n + row) * kPackSamples, present * kPackSamples * sizeof(double));
    to += size * kPackSamples;
    std::fill(end, to, 0.0);
  }
}

struct Chunk {
  const double* jacobian;
  const double* weighted;
  long inner;
};

// kTile rows and columns from here on, or as many as there are.
struct Tile {
  long row;
  long col;
};

// J^T (L J), of the first chunk or added to what others gave, in the entries of a tile at and below
// the diagonal.
void add_tile(const PackKernels& kernels,
              const Chunk& chunk,
              double* scratch,
              const Tile& tile,
              bool is_first,
              Eigen::Ref<Eigen::MatrixXd> g) {
  const long n = g.rows();
  const long num_rows = std::min(kTile, n - tile.row);
  const long num_cols = std::min(kTile, n - tile.col);
  const long num_panels = ceil_div(num_rows, kPanelRows);
  double* const column_panel = scratch + kTile * chunk.inner * kPackSamples;
  double* const products = column_panel + kPanelCols * chunk.inner * kPackSamples;
  std::array<const double*, kPanelCols> columns;
  for (long p = 0; p < num_panels; ++p) {
    pack_rows(scratch + p * kPanelRows * chunk.inner * kPackSamples,
              chunk.jacobian,
              n,
              tile.row + p * kPanelRows,
              chunk.inner);
  }
  for (long c = 0; c < num_cols; c += kPanelCols) {
    const long wanted = std::min<long>(kPanelCols, num_cols - c);
    for (long k = 0; k < kPanelCols; ++k) {
      columns[static_cast<std::size_t>(k)] =
          chunk.weighted + (tile.col + c + std::min(k, wanted - 1)) * kPackSamples;
    }
    kernels.fill_columns(column_panel,
                         columns.data(),
                         nullptr,
                         n * kPackSamples,
                         static_cast<int>(wanted),
                         static_cast<int>(chunk.inner));
    kernels.inner_products(products,
                           1,
                           kTile,
                           scratch,
                           static_cast<int>(num_panels),
                           column_panel,
                           static_cast<int>(wanted),
                           static_cast<int>(chunk.inner));
    for (long j = c; j < std::min(c + kPanelCols, num_cols); ++j) {
      for (long i = std::max(0L, tile.col + j - tile.row); i < num_rows; ++i) {
        double& entry = g(tile.row + i, tile.col + j);
        entry = (is_first ? 0 : entry) + products[i + (j - c) * kTile];
      }
    }
  }
}

}  // namespace

// With n parameters and F multiplications in a forward pass, the generic sweep costs c n F, and the
// factors m reverse passes and a product at some ten times the speed: c m (F + n^2 / 10). Fitted to
// twelve models with m = 1 ... 60 and F / n = 1 ... 500, on each instruction set.
bool factors_pay(const Graph& graph) {
  if (graph.prediction() < 0) return false;
  const auto nodes = graph.nodes();
  double work = 0;
  for (const Graph::Node& node : nodes) {
    if (node.a < 0) continue;
    const Graph::Node& a = nodes[static_cast<std::size_t>(node.a)];
    const long inner = node.op != Graph::Op::kMatmul ? 1
                       : !node.transpose_a           ? a.cols
                       : node.is_shared_a            ? a.rows
                                                     : a.rows / node.stack;
    work += static_cast<double>(node.size() * inner);
  }
  const auto m = static_cast<double>(prediction_of(graph).size());
  const auto n = static_cast<double>(graph.num_parameters());
  return m * (work + n * n / 10) <= n * work;
}

bool gauss_newton_mean(const Graph& graph,
                       Records records,
                       const FillFactors& fill,
                       const Executor& executor,
                       InstructionSet set,
                       const ProgressCallback& progress,
                       Eigen::Ref<Eigen::MatrixXd> g) {
  const long n = g.rows();
  const long m = prediction_of(graph).size();
  const PackKernels& kernels = pack_kernels(set);
  const long num_packs = ceil_div(records.count, kPackSamples);
  const long max_packs = std::max(1L, kMaxInner / m);
  const long chunk_packs = ceil_div(num_packs, ceil_div(num_packs, max_packs));
  const long pack_size = m * n * kPackSamples;
  const AlignedBuffer jacobian(static_cast<std::size_t>(chunk_packs * pack_size));
  const AlignedBuffer weighted(static_cast<std::size_t>(chunk_packs * pack_size));
  BufferPool scratch(static_cast<std::size_t>(
      (kTile + kPanelCols) * chunk_packs * m * kPackSamples + kTile * kPanelCols));
  // Ranks have neighbouring columns of tiles.
  const long num_tile_columns = ceil_div(n, kTile);
  const auto work_of_column = [&](Eigen::Index k) {
    return static_cast<double>(num_tile_columns - k);
  };
  const BlockRange own = executor.own(num_tile_columns, work_of_column);
  std::vector<Tile> tiles;
  for (long col = own.begin * kTile; col < std::min(own.end * kTile, n); col += kTile) {
    for (long row = col; row < n; row += kTile) tiles.push_back({row, col});
  }
  ProgressCounter counter(progress, std::ssize(tiles) * records.count);
  advise_huge_pages(g.data(), g.outerStride() * n);
  const auto add_chunk = [&](long first_pack) {
    const long packs = std::min(chunk_packs, num_packs - first_pack);
    const long first = first_pack * kPackSamples;
    const long count = std::min<long>(packs * kPackSamples, records.count - first);
    executor.for_each(packs, [&](Eigen::Index pack) {
      const long begin = pack * kPackSamples;
      const auto size = static_cast<std::size_t>(pack_size);
      fill(
          {records.data + (first + begin) * records.stride,
           std::min<long>(kPackSamples, count - begin),
           records.stride},
          {{jacobian.data() + pack * pack_size, size}, {weighted.data() + pack * pack_size, size}});
    });
    const Chunk chunk{jacobian.data(), weighted.data(), packs * m};
    executor.for_each(std::ssize(tiles), [&](Eigen::Index i) {
      const Tile& tile = tiles[static_cast<std::size_t>(i)];
      scratch.with_buffer(
          [&](double* buffer) { add_tile(kernels, chunk, buffer, tile, first == 0, g); });
      counter.advance(count);
    });
  };
  const auto add_all = [&] {
    for (long first = 0; first < num_packs; first += chunk_packs) add_chunk(first);
  };
  executor.together(
      add_all,
      num_tile_columns,
      [&](Eigen::Index begin, Eigen::Index end) {
        const long col = begin * kTile;
        return MatrixPart{&g(col, col), n - col, std::min(end * kTile, n) - col, g.outerStride()};
      },
      work_of_column);
  return fill_triangles(executor, Triangle::kLower, 1.0 / static_cast<double>(records.count), g);
}

}  // namespace hesscope::detail
