// SPDX-License-Identifier: BSD-3-Clause
//
// Which eigenpairs of one matrix continue which eigenpairs of another.
//
// Eigenvectors of equal or nearly equal eigenvalues are known up to a rotation among themselves:
// only the space U of a cluster is known. Between two such spaces, with orthonormal bases of c and
// d columns, there are min(c, d) principal angles. Their cosines are the singular values of U' V,
// and
//   overlap = sqrt(|U' V|_F^2 / min(c, d)),
// is their root mean square: 1 if one space contains the other, 0 if they are orthogonal, |u' v|
// for two simple eigenvalues. It is the same for every basis.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/analyzers/internal/eigenvalue_clusters.h>

namespace hesscope::detail {

/// Above this overlap, cos 45 degrees, a simple eigenvector certainly continues one of the other
/// matrix: the squares of its overlaps add up to at most 1, so no other eigenvector has as much.
inline constexpr double kClearOverlap = 0.70710678118654752440;

/// How the pairs at one end continue those of another matrix at the same end.
struct EigenpairMatching {
  /// k x k, of each pair with each pair of the other matrix; NaN for pairs of clusters that are not
  /// whole.
  Eigen::MatrixXd overlaps;
  /// For each pair, the pair of the other matrix that it continues: the assignment with the largest
  /// sum of squared overlaps. -1 if one of the two belongs to a cluster that is not whole.
  std::vector<Eigen::Index> continued;
};

/// @param now, before  with the same number of eigenvalues, with status kOk.
EigenpairMatching match_eigenpairs(const ClusteredEnd& now, const ClusteredEnd& before);

/// What is known about the eigenpairs at one end of one checkpoint.
struct TrackedPairs {
  std::vector<double> cluster;    ///< number of its cluster; NaN = missing, as below
  std::vector<double> continued;  ///< pair of the previous checkpoint
  std::vector<double> overlap;    ///< with that pair
};

/// Numbers of tracks, from 0 in order of appearance. A track consists of pairs that clearly
/// continue one another from checkpoint to checkpoint. A pair takes the number of the pair that it
/// continues if their overlap is above kClearOverlap and the cluster of that pair goes into one
/// cluster as a whole; if a cluster is divided, nobody can say which of its members went where.
/// Otherwise it begins a track.
/// @return one number for each pair of each checkpoint; NaN if a pair has no cluster.
std::vector<std::vector<double>> track_numbers(std::span<const TrackedPairs> checkpoints);

}  // namespace hesscope::detail
