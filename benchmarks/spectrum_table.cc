// SPDX-License-Identifier: BSD-3-Clause
//
// The cost of spectra: all eigenvalues compared with LAPACK's dsyevd, three by counts compared with
// all, the ends without a matrix in applications of the Hessian. Everything runs on one thread, to
// which dense_spectrum limits OpenBLAS; ratios come from runs that alternate.
#include <algorithm>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <fmt/format.h>
#include <lapacke.h>

#include <hesscope/simd/instruction_set.h>
#include <hesscope/spectra/counted_spectrum.h>
#include <hesscope/spectra/eigensystem.h>
#include <hesscope/spectra/extremes.h>
#include <hesscope/spectra/spectrum.h>

#include "statistics.h"
#include "stopwatch.h"
#include "works.h"

extern "C" void openblas_set_num_threads(int);

namespace hesscope::bench {
namespace {

// A symmetric matrix with uniform entries, whose spectrum has no clusters.
Eigen::MatrixXd random_symmetric(Eigen::Index n) {
  std::srand(1);  // Eigen's Random
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(n, n);
  return a + a.transpose();
}

double seconds_of_dsyevd(const Eigen::MatrixXd& h, char job) {
  openblas_set_num_threads(1);
  const Stopwatch watch;
  Eigen::MatrixXd a = h;
  Eigen::VectorXd w(h.rows());
  const auto n = static_cast<lapack_int>(h.rows());
  if (LAPACKE_dsyevd(LAPACK_COL_MAJOR, job, 'L', n, a.data(), n, w.data()) != 0) return -1;
  return watch.seconds();
}

template <typename F>
double seconds_of(F run) {
  const Stopwatch watch;
  run();
  return watch.seconds();
}

void print_ratio(const std::string& what,
                 Eigen::Index n,
                 std::vector<double> ours,
                 std::vector<double> reference,
                 double limit) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / reference[i]);
  fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} to {:.2f} | {} |\n",
             what,
             n,
             median(ours),
             median(reference),
             median(ratios),
             *std::min_element(ratios.begin(), ratios.end()),
             *std::max_element(ratios.begin(), ratios.end()),
             limit > 0 ? fmt::format("{:.2f}", limit) : "");
}

void compare_matrices(Eigen::Index n_all,
                      Eigen::Index n_three,
                      Eigen::Index n_vectors,
                      int rounds) {
  fmt::print(
      "| | n | seconds | reference, seconds | ratio | range | limit |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  const auto alternate = [&](auto ours, auto reference) {
    std::pair<std::vector<double>, std::vector<double>> times;
    for (int round = 0; round < rounds; ++round) {
      times.first.push_back(ours());
      times.second.push_back(reference());
    }
    return times;
  };
  {
    const Eigen::MatrixXd h = random_symmetric(n_all);
    const auto [ours, reference] = alternate([&] { return seconds_of([&] { dense_spectrum(h); }); },
                                             [&] { return seconds_of_dsyevd(h, 'N'); });
    print_ratio("all eigenvalues over dsyevd", n_all, ours, reference, 1.15);
  }
  {
    const Eigen::MatrixXd h = random_symmetric(n_three);
    const auto [ours, reference] =
        alternate([&] { return seconds_of([&] { counted_spectrum(h); }); },
                  [&] { return seconds_of_dsyevd(h, 'N'); });
    print_ratio("smallest, median, largest over dsyevd", n_three, ours, reference, 0.5);
  }
  {
    const Eigen::MatrixXd h = random_symmetric(n_vectors);
    const auto [ours, reference] =
        alternate([&] { return seconds_of([&] { dense_eigensystem(h); }); },
                  [&] { return seconds_of_dsyevd(h, 'V'); });
    print_ratio("all eigenvectors over dsyevd", n_vectors, ours, reference, 0);
  }
}

// W3 with scaled weights: with 0.05 N(0, 1), eight layers of dimension 20 are far from any weights
// that occur in training.
void count_applications() {
  fmt::print(
      "\nEnds of W3 by products alone; the limit is 80 columns.\n\n"
      "| weights | columns applied | lambda_min | lambda_max | residuals |\n"
      "| ---: | ---: | ---: | ---: | ---: |\n");
  Problem problem = work_named("W3").problem(best_instruction_set());
  const Eigen::VectorXd theta = problem.theta;
  const GraphObjective objective(problem.model, std::move(problem.samples));
  for (const double scale : {0.2, 0.4, 0.6, 1.0}) {
    const HessianOperator h(objective, scale * theta);
    const Extremes ends = extreme_eigenpairs(h);
    if (ends.smallest.status != Status::kOk || ends.largest.status != Status::kOk) {
      fmt::print("| {:.3f} N(0, 1) | {} | not converged | | |\n", 0.05 * scale, h.num_columns());
      continue;
    }
    fmt::print("| {:.3f} N(0, 1) | {} | {:.6g} | {:.6g} | {:.1e}, {:.1e} |\n",
               0.05 * scale,
               ends.num_columns,
               ends.smallest.values[0],
               ends.largest.values[0],
               ends.smallest.residuals[0],
               ends.largest.residuals[0]);
  }
}

int run(int argc, char** argv) {
  CLI::App app("Prints what spectra cost next to the limits set for them.");
  bool is_quick = false;
  int rounds = 3;
  app.add_option("--rounds", rounds, "runs of each side")
      ->capture_default_str()
      ->check(CLI::Range(1, 99));
  app.add_flag("--quick", is_quick, "small matrices, one round: for trying out, not for figures");
  CLI11_PARSE(app, argc, argv);
  if (is_quick) {
    compare_matrices(400, 700, 400, 1);
  } else {
    compare_matrices(4000, 7056, 2000, rounds);
    count_applications();
  }
  return 0;
}

}  // namespace
}  // namespace hesscope::bench

int main(int argc, char** argv) { return hesscope::bench::run(argc, argv); }
