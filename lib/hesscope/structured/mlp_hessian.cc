// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <vector>

#include <hesscope/core/huge_pages.h>
#include <hesscope/simd/internal/aligned_buffer.h>
#include <hesscope/structured/internal/mlp/factors.h>
#include <hesscope/structured/internal/mlp/products.h>
#include <hesscope/structured/mlp_hessian.h>

namespace hesscope {
namespace {

using detail::kPackSamples;
using detail::MlpChunk;
using detail::MlpFactors;
using detail::MlpTarget;

// A chunk holds at most so many packs: an inner index of that length is enough for the products ...
constexpr long kMaxPacks = 64;
// ... and so many doubles (128 MiB), if one pack has fewer.
constexpr long kMaxChunkDoubles = 1L << 24;
// Edge of the squares in which a matrix is mirrored.
constexpr long kMirrorEdge = 32;

// Copies the part of a square matrix below its diagonal to the part above, for columns
// [first, first + kMirrorEdge) of the part below.
void mirror_columns(double* matrix, long stride, long size, long first) {
  const long end = std::min(first + kMirrorEdge, size);
  for (long row = first; row < size; row += kMirrorEdge) {
    const long end_row = std::min(row + kMirrorEdge, size);
    for (long i = row; i < end_row; ++i) {
      for (long j = first; j < std::min(end, i); ++j) {
        matrix[j + i * stride] = matrix[i + j * stride];
      }
    }
  }
}

// Writes what is left in the lower triangle of a layer's block of H, in the columns of unit a: with
// weights (i, j) and (a, b), j < b, which equals j > b; and with bias i and weights (a, b), i < a,
// which equals bias a and weights (i, b).
void complete_unit(const detail::MlpLayer& layer, long a, MlpTarget h) {
  const long in = layer.in;
  const auto column = [&](long unit, long entry) {
    return h.data + (layer.weight + unit * in + entry) * h.stride;
  };
  for (long i = a + 1; i < layer.out; ++i) {
    double* const weights = column(a, 0) + layer.weight + i * in;
    for (long first = 0; first < in; first += kMirrorEdge) {
      mirror_columns(weights, h.stride, in, first);
    }
  }
  for (long b = 0; b < in; ++b) {
    double* const biases = column(a, b) + layer.bias;
    for (long i = 0; i < a; ++i) biases[i] = column(i, b)[layer.bias + a];
  }
}

class MlpHessian final : public StructuredHessian {
 public:
  MlpHessian(const MlpStructure& structure, InstructionSet set)
      : kernels_(detail::pack_kernels(set)),
        factors_(structure, kernels_),
        max_packs_(std::clamp(kMaxChunkDoubles / chunk_doubles(1), 1L, kMaxPacks)) {}

  void sum(std::span<const double> theta,
           Records records,
           const Executor& executor,
           const ProgressCallback& progress,
           Eigen::Ref<Eigen::MatrixXd> h) const override;

  double workspace_bytes(int num_threads) const override {
    return static_cast<double>(chunk_doubles(max_packs_) +
                               num_threads *
                                   detail::mlp_tile_scratch(static_cast<int>(max_packs_))) *
           sizeof(double);
  }

 private:
  long chunk_doubles(long num_packs) const {
    return (factors_.block_size() + factors_.num_rows()) * num_packs * kPackSamples;
  }

  std::vector<int> owners_of_columns(const detail::MlpColumns& columns,
                                     const std::vector<Eigen::Index>& cuts,
                                     Eigen::Index num_parameters) const;

  const detail::PackKernels& kernels_;
  MlpFactors factors_;
  long max_packs_;
};

// Of H.
std::vector<int> MlpHessian::owners_of_columns(const detail::MlpColumns& columns,
                                               const std::vector<Eigen::Index>& cuts,
                                               Eigen::Index num_parameters) const {
  std::vector<int> owners(static_cast<std::size_t>(num_parameters));
  const auto& layers = factors_.layers();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const detail::MlpLayer& layer = layers[l];
    for (int b = 0; b <= layer.in; ++b) {
      const auto end = std::upper_bound(cuts.begin(), cuts.end(), columns.first[l] + b);
      const auto owner = static_cast<int>(end - cuts.begin()) - 1;
      for (long a = 0; a < layer.out; ++a) {
        const long column = b == layer.in ? layer.bias + a : layer.weight + a * layer.in + b;
        owners[static_cast<std::size_t>(column)] = owner;
      }
    }
  }
  return owners;
}

void MlpHessian::sum(std::span<const double> theta,
                     Records records,
                     const Executor& executor,
                     const ProgressCallback& progress,
                     Eigen::Ref<Eigen::MatrixXd> h) const {
  const auto divide = [](long a, long b) { return (a + b - 1) / b; };  // rounding up
  const long num_packs = divide(records.count, kPackSamples);
  const long chunk_packs = divide(num_packs, divide(num_packs, max_packs_));
  const auto curvatures = detail::mlp_curvature_products(factors_);
  const auto slopes = detail::mlp_slope_products(factors_);
  const std::array lists = {&curvatures, &slopes};
  const detail::MlpColumns columns = detail::mlp_columns(factors_, lists);
  const auto num_columns = std::ssize(columns.work);
  const auto work_of = [&](Eigen::Index c) { return columns.work[static_cast<std::size_t>(c)]; };
  const BlockRange own = executor.own(num_columns, work_of);
  const auto curvature_tiles = detail::mlp_tiles(factors_, curvatures, columns, own);
  const auto slope_tiles = detail::mlp_tiles(factors_, slopes, columns, own);
  const detail::AlignedBuffer buffer(static_cast<std::size_t>(chunk_doubles(chunk_packs)));
  detail::BufferPool scratch(
      static_cast<std::size_t>(detail::mlp_tile_scratch(static_cast<int>(chunk_packs))));
  advise_huge_pages(buffer.data(), chunk_doubles(chunk_packs));
  advise_huge_pages(h.data(), h.outerStride() * h.cols());
  MlpTarget target{h.data(), h.outerStride(), true};
  long work = 0;
  for (const auto* tiles : {&curvature_tiles, &slope_tiles}) {
    for (const detail::MlpTile& tile : *tiles) work += tile.work;
  }
  detail::ProgressCounter counter(progress, work * records.count);

  const auto add_chunk = [&](long first_pack) {
    const long packs = std::min(chunk_packs, num_packs - first_pack);
    const MlpChunk chunk{buffer.data(),
                         buffer.data() + factors_.num_rows() * packs * kPackSamples,
                         static_cast<int>(packs)};
    const long first = first_pack * kPackSamples;
    const Records part{records.data + first * records.stride,
                       std::min<Eigen::Index>(packs * kPackSamples, records.count - first),
                       records.stride};
    executor.for_each(packs, [&](Eigen::Index pack) {
      factors_.fill(theta, part, static_cast<int>(pack), chunk);
    });
    const auto run = [&](const std::vector<detail::MlpTile>& tiles) {
      executor.for_each(std::ssize(tiles), [&](Eigen::Index i) {
        const detail::MlpTile& tile = tiles[static_cast<std::size_t>(i)];
        scratch.with_buffer([&](double* buffer_of_task) {
          detail::run_mlp_tile(factors_, kernels_, tile, chunk, buffer_of_task, target);
        });
        counter.advance(tile.work * part.count);
      });
    };
    run(curvature_tiles);
    target.is_new = false;
    run(slope_tiles);
  };
  const auto add_all = [&] {
    for (long first = 0; first < num_packs; first += chunk_packs) add_chunk(first);
  };
  if (executor.team() == nullptr) {
    add_all();
  } else {
    executor.team()->together(add_all);
    const auto cuts = equal_shares(num_columns, executor.team()->size(), work_of);
    share_columns(*executor.team(), owners_of_columns(columns, cuts, h.cols()), h, true);
  }

  for (const detail::MlpLayer& layer : factors_.layers()) {
    executor.for_each(layer.out, [&](Eigen::Index a) { complete_unit(layer, a, target); });
  }
  executor.for_each(divide(h.cols(), kMirrorEdge), [&](Eigen::Index i) {
    mirror_columns(target.data, target.stride, h.cols(), i * kMirrorEdge);
  });
}

}  // namespace

std::shared_ptr<const StructuredHessian> mlp_hessian(const MlpStructure& structure,
                                                     InstructionSet set) {
  return std::make_shared<MlpHessian>(structure, set);
}

}  // namespace hesscope
