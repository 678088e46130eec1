// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by the peers written in C++: the problems, and how a peer is run.
#pragma once

#include <functional>
#include <string>
#include <variant>

#include <Eigen/Core>

#include "losses.h"
#include "works.h"

namespace hesscope::bench {

struct PeerProblem {
  std::string name;
  std::variant<LinearAttentionLoss, MlpPeerLoss, TorchLoss> loss;
  Eigen::Index num_samples;

  Problem problem() const;
};

const std::vector<PeerProblem>& peer_problems();

/// The main() of a peer: PEER PROBLEM OUTPUT [THREADS]. Computes the Hessian of PROBLEM again and
/// again, writes it to OUTPUT as raw doubles, and prints {"software", "threads", "seconds"} in
/// JSON.
///
/// @param software     name and version.
/// @param has_threads  whether the peer uses the given threads, or one.
/// @param hessian      of the mean loss over the problem's samples.
int run_peer(
    int argc,
    char** argv,
    const std::string& software,
    bool has_threads,
    const std::function<Eigen::MatrixXd(
        const PeerProblem& peer_problem, const Problem& problem, int num_threads)>& hessian);

/// Writes doubles as they are in memory. @throws std::runtime_error if that fails.
void write_doubles(const std::string& path, const double* data, Eigen::Index count);

}  // namespace hesscope::bench
