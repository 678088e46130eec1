// SPDX-License-Identifier: BSD-3-Clause
//
// ScaLAPACK's matrices on the ranks that mpirun has started; distributed_test.py starts it.
//   scalapack_ranks GRID spectra    golden and other matrices against dense_spectrum()
//   scalapack_ranks GRID bits       a few of them; the first rank prints for each a digest of all that
//                                   was found, to the last bit
//   scalapack_ranks GRID memory N   what the peak of each rank's memory grew by, in bytes
//   scalapack_ranks GRID lack RANK  that all ranks fail, and none waits, wherever one lacks memory
// Exit code 1 where something is wrong, with words, which are the first rank's where all refuse.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>
#include <unistd.h>

#include <Eigen/Core>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/mpi/mpi_team.h>
#include <hesscope/mpi/scalapack_solver.h>

#include "mpi/scarce_memory.h"
#include "spectra/golden_hessians.h"
#include "spectra/matrices.h"
#include "support/quadratic_objective.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

bool failed = false;

void expect(bool is_so, const std::string& what) {
  if (is_so) return;
  std::fprintf(stderr, "wrong: %s\n", what.c_str());
  failed = true;
}

class Digest {
 public:
  void add(double number) {
    constexpr std::uint64_t kPrime = 0x100000001b3;  // FNV-1a, by words
    hash_ = (hash_ ^ std::bit_cast<std::uint64_t>(number)) * kPrime;
    hash_ ^= hash_ >> 29;
  }

  void add(const VectorXd& numbers) {
    for (const double number : numbers) add(number);
  }

  std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

void compare(const DistributedSolver& solver, const std::string& name, const MatrixXd& h) {
  const test::QuadraticObjective objective({h});
  const DistributedSpectrum found =
      distributed_spectrum(solver, objective, VectorXd::Zero(h.rows()));
  const Spectrum& spectrum = found.spectrum;
  const Spectrum dense = dense_spectrum(h);
  const double band = dense.rounding_band;
  expect(spectrum.status == Status::kOk, name + ": status");
  if (spectrum.status != Status::kOk) return;
  expect(spectrum.proof == Proof::kDense, name + ": proof");
  expect((spectrum.eigenvalues - dense.eigenvalues).cwiseAbs().maxCoeff() <= band,
         name + ": eigenvalues");
  expect(std::abs(spectrum.median.value - dense.median.value) <= band, name + ": median");
  expect(spectrum.num_negative == dense.num_negative && spectrum.num_zero == dense.num_zero &&
             spectrum.num_positive == dense.num_positive && spectrum.num_dead == dense.num_dead,
         name + ": counts");
  expect(found.diagonal == h.diagonal(), name + ": diagonal");
  const double norm = detail::norm(h);
  expect(std::abs(found.frobenius_norm - norm) <= 1e-13 * norm, name + ": norm");
  Digest digest;
  digest.add(spectrum.eigenvalues);
  digest.add(found.frobenius_norm);
  for (const Eigenvalue& each : {spectrum.smallest, spectrum.median, spectrum.largest}) {
    expect(each.residual <= band, name + ": residual");
    digest.add(each.value);
    digest.add(each.residual);
  }
  if (solver.team().rank() != 0) return;
  std::printf("%s %016llx\n", name.c_str(), static_cast<unsigned long long>(digest.hash()));
}

void compare_random(const DistributedSolver& solver, Index n) {
  compare(solver,
          "random-" + std::to_string(n),
          test::random_symmetric(n, static_cast<std::uint64_t>(n)));
}

// The larger, the more sums of ranks there are whose order may be another one.
void compare_some(const DistributedSolver& solver) {
  compare_random(solver, 150);
  for (const test::GoldenHessian& golden : test::golden_hessians()) {
    if (golden.name.ends_with("tanh/golden-000400.npz")) {
      compare(solver, golden.name, golden.hessian);
    }
  }
}

void compare_all(const DistributedSolver& solver) {
  for (const test::GoldenHessian& golden : test::golden_hessians()) {
    compare(solver, golden.name, golden.hessian);
  }
  // About blocks of 64.
  for (const Index n : {1, 2, 63, 64, 65, 129}) compare_random(solver, n);
  compare(solver, "zero", MatrixXd::Zero(70, 70));
  compare(solver, "identity", MatrixXd::Identity(200, 200));
  compare(solver, "tiny", 0x1p-1000 * test::laplacian(100));
}

// Of n parameters, with a Hessian that is nowhere held: H_ij = cos(i j), i != j, and H_ii = i.
class FormulaObjective final : public Objective {
 public:
  explicit FormulaObjective(Index n) : n_(n) {}

  Index num_parameters() const override { return n_; }

  Index num_samples() const override { return 1; }

  std::span<const ParameterBlock> parameter_blocks() const override { return {}; }

  double value(const ConstVectorRef&, SampleRange) const override { return 0.0; }

  ValueAndGradient value_and_gradient(const ConstVectorRef&, SampleRange) const override {
    return {0.0, Vector::Zero(n_)};
  }

  Matrix hessian_times(const ConstVectorRef&, const ConstMatrixRef&, SampleRange) const override {
    return {};
  }

  Matrix hessian(const ConstVectorRef&, SampleRange, const ProgressCallback&) const override {
    return {};
  }

  Matrix per_sample_gradients(const ConstVectorRef&, SampleRange) const override { return {}; }

  double workspace_bytes() const override { return 0.0; }

  Matrix hessian_columns(const ConstVectorRef&,
                         SampleRange,
                         Index first,
                         Index width) const override {
    return Matrix::NullaryExpr(n_ - first, width, [first](Index i, Index k) {
      const auto row = static_cast<double>(first + i);
      const auto col = static_cast<double>(first + k);
      return i == k ? row : std::cos(row * col);
    });
  }

 private:
  Index n_;
};

double bytes_of(const std::string& what) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(what)) return 1024.0 * std::stod(line.substr(what.size()));
  }
  return std::nan("");
}

void measure(const DistributedSolver& solver, Index n) {
  const auto run = [&](Index size) {
    const FormulaObjective objective(size);
    const DistributedSpectrum found = distributed_spectrum(solver, objective, VectorXd::Zero(size));
    expect(found.spectrum.status == Status::kOk, "status");
  };
  run(300);                                       // buffers of MPI and BLAS
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak begins anew
  const double before = bytes_of("VmRSS:");
  run(n);
  std::printf("%.0f\n", bytes_of("VmHWM:") - before);
}

// One allocation after the other fails on one rank, until all have been tried.
void try_without_memory(const DistributedSolver& solver, int lacking_rank) {
  constexpr Index kSize = 130;
  constexpr unsigned kPatienceSeconds = 240;
  ::alarm(kPatienceSeconds);  // ranks that wait for ever end by it
  // Where ranks that are still at work wait for one that is not, and not for each other by chance.
  MPI_Comm apart = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &apart);
  Team& team = solver.team();
  const test::QuadraticObjective objective({test::random_symmetric(kSize, 1)});
  const VectorXd theta = VectorXd::Zero(kSize);
  long num_failed = 0;
  for (bool has_failed = true; has_failed; ++num_failed) {
    test::allocation_that_fails = team.rank() == lacking_rank ? num_failed + 1 : 0;
    has_failed = false;
    try {
      distributed_spectrum(solver, objective, theta);
    } catch (const std::bad_alloc&) {
      has_failed = team.rank() == lacking_rank;
    } catch (const OutputError& error) {
      has_failed = std::string(error.what()).ends_with("out of memory");
    }
    test::allocation_that_fails = 0;
    MPI_Barrier(apart);
    const bool all_have = team.smallest(has_failed ? 1 : 0) == 1;
    const bool none_has = team.smallest(has_failed ? 0 : 1) == 1;
    expect(all_have || none_has, "some ranks have failed, and others not");
  }
  MPI_Comm_free(&apart);
  if (team.rank() == lacking_rank) std::printf("%ld\n", num_failed - 1);
}

int number_in(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? 0 : std::atoi(text);
}

int run(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto team = std::make_shared<MpiTeam>(std::max(1, number_in("OMPI_COMM_WORLD_SIZE")),
                                              number_in("OMPI_COMM_WORLD_RANK"));
  team->begin();
  try {
    const auto solver = scalapack_solver(team, std::atoi(argv[1]));
    if (argv[2] == std::string("memory") && argc == 4) {
      measure(*solver, std::atoi(argv[3]));
    } else if (argv[2] == std::string("lack") && argc == 4) {
      try_without_memory(*solver, std::atoi(argv[3]));
    } else if (argv[2] == std::string("bits")) {
      compare_some(*solver);
    } else {
      compare_all(*solver);
    }
  } catch (const OutputError& error) {
    failed = true;
    if (team->rank() == 0) std::printf("%s\n", error.what());
  }
  team->end();
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace hesscope

int main(int argc, char** argv) { return hesscope::run(argc, argv); }
