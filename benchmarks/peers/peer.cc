// SPDX-License-Identifier: BSD-3-Clause
#include "peer.h"

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "stopwatch.h"

namespace hesscope::bench {
namespace {

// Rounds end when one of these is reached.
constexpr std::size_t kNumRounds = 5;
constexpr double kLongEnough = 5;  // seconds, of all rounds

const PeerProblem& problem_named(const std::string& name) {
  for (const PeerProblem& problem : peer_problems()) {
    if (problem.name == name) return problem;
  }
  throw std::invalid_argument("no problem '" + name + "'");
}

// W5, with any number of samples.
Problem w5_problem(Eigen::Index num_samples) {
  return attention_problem({.heads = 2, .embedding = 16, .head_dimension = 8, .sequence = 16},
                           num_samples);
}

}  // namespace

Problem PeerProblem::problem() const {
  if (const auto* attention = std::get_if<LinearAttentionLoss>(&loss)) {
    return linear_attention_problem(attention->options, num_samples);
  }
  if (const auto* of_torch = std::get_if<TorchLoss>(&loss)) return of_torch->problem(num_samples);
  return mlp_problem(std::get<MlpPeerLoss>(loss).options, num_samples);
}

const std::vector<PeerProblem>& peer_problems() {
  static const std::vector<PeerProblem> all = {
      {"linear-attention-full",
       LinearAttentionLoss{{.layers = 3,
                            .dimension = 5,
                            .context = 20,
                            .parametrization = LinearAttentionParametrization::kFull}},
       512},
      {"linear-attention-sparse",
       LinearAttentionLoss{{.layers = 3, .dimension = 5, .context = 20}},
       1'000},
      {"mlp", MlpPeerLoss{{.widths = {2, 16, 16, 3}}}, 500},
      // As many samples as PyTorch can hold all rows of in 24 GiB.
      {"attention", TorchLoss{"attention", &w5_problem}, 512},
      {"gpt", TorchLoss{"gpt", &gpt_problem}, 4},
      {"cnn", TorchLoss{"cnn", &cnn_problem}, 256},
      {"resnet", TorchLoss{"resnet", &resnet_problem}, 32},
      {"lstm", TorchLoss{"lstm", &lstm_problem}, 192},
      {"vit", TorchLoss{"vit", &vit_problem}, 16},
  };
  return all;
}

int run_peer(
    int argc,
    char** argv,
    const std::string& software,
    bool has_threads,
    const std::function<Eigen::MatrixXd(
        const PeerProblem& peer_problem, const Problem& problem, int num_threads)>& hessian) {
  try {
    if (argc < 3) throw std::invalid_argument("usage: PEER PROBLEM OUTPUT [THREADS]");
    const PeerProblem& peer_problem = problem_named(argv[1]);
    const Problem problem = peer_problem.problem();
    const int num_threads = has_threads && argc > 3 ? std::atoi(argv[3]) : 1;
    Eigen::MatrixXd h;
    std::vector<double> seconds;
    const Stopwatch all_rounds;
    do {
      seconds.push_back(
          seconds_per_call(0.1, [&] { h = hessian(peer_problem, problem, num_threads); }));
    } while (seconds.size() < kNumRounds && all_rounds.seconds() < kLongEnough);
    write_doubles(argv[2], h.data(), h.size());
    fmt::print(R"({{"software": "{}", "threads": {}, "seconds": [{:.9f}]}})"
               "\n",
               software,
               num_threads,
               fmt::join(seconds, ", "));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 1;
  }
}

void write_doubles(const std::string& path, const double* data, Eigen::Index count) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(data),
             count * static_cast<Eigen::Index>(sizeof(double)));
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

}  // namespace hesscope::bench
