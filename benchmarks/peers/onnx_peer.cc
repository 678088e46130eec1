// SPDX-License-Identifier: BSD-3-Clause
//
// hesscope on a problem file: time and memory of the Hessian at a checkpoint, and the rate of a
// dgemm on the same threads.
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/version.h>
#include <hesscope/problem/problem.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/tensors/tensor_file.h>

#include "gemm.h"
#include "peak_memory.h"
#include "peer.h"
#include "stopwatch.h"

namespace hesscope::bench {
namespace {

constexpr int kNumRounds = 5;
constexpr double kGemmGflop = 4;

double gemm_gflop_per_second(int num_threads) {
  Gemm gemm(kGemmGflop, num_threads);
  std::vector<double> rates;
  for (int round = 0; round < kNumRounds; ++round) {
    rates.push_back(gemm.gflop() / gemm.run().seconds);
  }
  std::nth_element(rates.begin(), rates.begin() + kNumRounds / 2, rates.end());
  return rates[kNumRounds / 2];
}

// Writes OUTPUT.hessian and OUTPUT.theta; prints a line of JSON.
void measure(const std::filesystem::path& problem_file,
             const std::filesystem::path& checkpoint_file,
             const std::string& output,
             int num_threads) {
  const io::TensorFile checkpoint = io::open_tensor_file(checkpoint_file);
  const hesscope::Problem problem(read_problem_file(problem_file), checkpoint, num_threads);
  const Eigen::VectorXd theta = problem.read_parameters(checkpoint);
  const GraphObjective& objective = problem.objective();
  static_cast<void>(objective.gradient(theta));
  Eigen::MatrixXd h;
  const double bytes = peak_memory_over_baseline([&] { h = objective.hessian(theta); });
  std::vector<double> seconds;
  for (int round = 0; round < kNumRounds; ++round) {
    seconds.push_back(seconds_per_call(0.1, [&] { h = objective.hessian(theta); }));
  }
  write_doubles(output + ".hessian", h.data(), h.size());
  write_doubles(output + ".theta", theta.data(), theta.size());
  std::vector<std::string> parameters;
  for (const ParameterBlock& block : problem.model().parameters) {
    parameters.push_back(fmt::format(R"(["{}", [{}]])", block.name, fmt::join(block.shape, ", ")));
  }
  fmt::print(R"({{"software": "hesscope {}", "num_samples": {}, "parameters": [{}], )"
             R"("seconds": [{:.9f}], "bytes": {:.0f}, "gflop_per_second": {:.3f}}})"
             "\n",
             kVersion,
             problem.samples().rows(),
             fmt::join(parameters, ", "),
             fmt::join(seconds, ", "),
             bytes,
             gemm_gflop_per_second(num_threads));
}

}  // namespace
}  // namespace hesscope::bench

int main(int argc, char** argv) {
  try {
    if (argc != 5) {
      throw std::invalid_argument("usage: onnx_peer PROBLEM.toml CHECKPOINT OUTPUT THREADS");
    }
    hesscope::bench::measure(argv[1], argv[2], argv[3], std::atoi(argv[4]));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 1;
  }
}
