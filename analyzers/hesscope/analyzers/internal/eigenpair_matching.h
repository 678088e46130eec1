// SPDX-License-Identifier: BSD-3-Clause
//
// Which eigenpairs of one matrix continue which of another.
//
// Eigenvectors of eigenvalues that are equal, or nearly, are known up to a rotation among
// themselves: what is known is the space U of a cluster. Between two of them, with orthonormal
// bases of c and d columns, there are min(c, d) principal angles, whose cosines are the singular
// values of U' V, and
//   overlap = sqrt(|U' V|_F^2 / min(c, d)),
// their root mean square: 1 where one space holds the other, 0 where they are orthogonal, |u' v| of
// two simple eigenvalues. It is the same for every basis.
#pragma once

#include <span>
#include <vector>

#include <Eigen/Core>

#include <hesscope/analyzers/internal/eigenvalue_clusters.h>

namespace hesscope::detail {

/// Beyond this overlap, cos 45 degrees, a simple eigenvector continues one of the other matrix for
/// certain: the squares of its overlaps with all of them add up to 1 at most, so that no other has
/// as much.
inline constexpr double kClearOverlap = 0.70710678118654752440;

/// How the pairs at one end continue those of another matrix at the same end.
struct EigenpairMatching {
  /// k x k, of each pair with each of the other matrix; NaN for those of clusters that are not
  /// whole.
  Eigen::MatrixXd overlaps;
  /// For each pair the one of the other matrix that it continues: the assignment for which the sum
  /// of the squares of the overlaps is largest. -1 where either is of a cluster that is not whole.
  std::vector<Eigen::Index> continued;
};

/// @param now, before  with as many eigenvalues each, of status kOk.
EigenpairMatching match_eigenpairs(const ClusteredEnd& now, const ClusteredEnd& before);

/// What is known of the eigenpairs at one end of one checkpoint.
struct TrackedPairs {
  std::vector<double> cluster;    ///< number of its cluster; NaN = missing, as below
  std::vector<double> continued;  ///< pair of the checkpoint before
  std::vector<double> overlap;    ///< with that
};

/// Numbers of tracks, from 0 in order of appearance: those of pairs that continue one another
/// clearly, checkpoint by checkpoint. A pair takes the number of the one that it continues if their
/// overlap is above kClearOverlap and the cluster of that one goes into one cluster as a whole; of
/// a cluster that is divided, nobody can say which of its members went where. Otherwise it begins a
/// track.
/// @return as many numbers as pairs for each checkpoint; NaN where a pair has no cluster.
std::vector<std::vector<double>> track_numbers(std::span<const TrackedPairs> checkpoints);

}  // namespace hesscope::detail
