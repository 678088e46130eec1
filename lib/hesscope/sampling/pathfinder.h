// SPDX-License-Identifier: BSD-3-Clause
//
// Are two dots joined by a path? Small images as sequences of tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hesscope/sampling/sampler_registry.h>
#include <hesscope/sampling/token_embedding.h>

namespace hesscope {

struct PathfinderOptions {
  std::int64_t side = 16;              ///< L, pixels along an edge
  std::int64_t path_length = 8;        ///< pixels of each of the two long paths, at least 3
  std::int64_t distractors = 2;        ///< further paths, without dots
  std::int64_t distractor_length = 4;  ///< pixels of each of them, at least 1
  std::int64_t patch = 1;              ///< p, pixels along the edge of a token; divides L
  std::int64_t embedding = 0;          ///< D, or 0: pixels and one-hot positions
  std::uint64_t embedding_seed = 0;    ///< of a random embedding
};

/// "pathfinder": two long paths and `distractors` short ones on L x L pixels. In class 1, two dots
/// mark the ends of the first path; in class 0, one dot marks an end of the first path and one an
/// end of the second. The classes thus differ only in whether the dots are joined.
///
/// A path is a walk to random neighbours that never touches itself, drawn dashed: of its pixels 0,
/// 1, 2, ... every third is blank. At least two pixels lie between pixels of different paths, and
/// at most one between neighbouring visible pixels of the same path; so a dot is joined to
/// everything that can be reached by steps to visible pixels in the surrounding 5 x 5. Values: 0
/// background, 1/2 path, 1 dot. Images whose paths reach a dead end are redrawn as a whole.
///
/// A token is a patch of p x p pixels, read row by row; tokens run from left to right, then down: n
/// = (L / p)^2. Its vector consists of these p^2 numbers and a one-hot position (n), D = p^2 + n;
/// or, with embedding = D > 0, it is E^T v + P_t with fixed E (p^2 x D) and P (n x D), whose
/// entries are N(0, 1 / D), from (embedding_seed, Stream::kTask, 1).
///
/// Arrays: inputs (n, D), target () = class.
/// @cost measured: 35 to 45 us for 16 x 16 pixels and for 32 x 32 in patches of 4 x 4.
/// @source After Linsley, Kim, Veerabadran, Windolf, Serre (2018), "Learning long-range spatial
/// dependencies with horizontal gated recurrent units", and the Long Range Arena of Tay et al.
/// (2021), 32 x 32. The drawing, the three values and the embedding are ours.
class Pathfinder final : public Sampler {
 public:
  /// @throws PreconditionError for an option out of its range, or if the paths do not fit.
  explicit Pathfinder(const PathfinderOptions& options);

  /// Whether the paths fit at least once in 1000 attempts with a fixed seed.
  static bool fits(const PathfinderOptions& options);

  void draw(std::uint64_t seed,
            Stream stream,
            std::uint64_t index,
            std::span<double> record) const override;

 private:
  PathfinderOptions options_;
  detail::TokenEmbedding embedding_;
};

SamplerKind pathfinder_kind();

}  // namespace hesscope
