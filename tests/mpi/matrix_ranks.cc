// SPDX-License-Identifier: BSD-3-Clause
//
// Matrices on the ranks that mpirun has started, of a grid and by ENGINE, scalapack or elpa;
// distributed_test.py starts it.
//   matrix_ranks ENGINE GRID spectra    golden and other matrices against dense_spectrum()
//   matrix_ranks ENGINE GRID bits       a few of them; the first rank prints for each a digest of
//                                       all that was found, to the last bit
//   matrix_ranks ENGINE GRID memory N   what the peak of each rank's memory grew by, in bytes
//   matrix_ranks ENGINE GRID proved N   the same with a full proof
//   matrix_ranks ENGINE GRID lack RANK  that all ranks fail, and none waits, where one lacks memory
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
#include <hesscope/mpi/distributed_solver.h>
#include <hesscope/mpi/internal/grid_solver.h>
#include <hesscope/mpi/internal/scalapack.h>
#include <hesscope/mpi/internal/scalapack_matrix.h>
#include <hesscope/mpi/mpi_team.h>
#include <hesscope/spectra/distributed_cost.h>

#include "mpi/scarce_memory.h"
#include "spectra/golden_hessians.h"
#include "support/matrices.h"
#include "support/maxima.h"
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

DistributedSpectrum spectrum_of(const DistributedSolver& solver,
                                const MatrixXd& h,
                                bool proves_fully) {
  const test::QuadraticObjective objective({h});
  const VectorXd theta = VectorXd::Zero(h.rows());
  return distributed_spectrum(solver, objective, theta, {.proves_fully = proves_fully});
}

// A digest of everything that was found, to the last bit.
std::uint64_t digest_of(const DistributedSpectrum& found) {
  const Spectrum& spectrum = found.spectrum;
  Digest digest;
  digest.add(spectrum.eigenvalues);
  digest.add(found.frobenius_norm);
  for (const Eigenvalue& each : {spectrum.smallest, spectrum.median, spectrum.largest}) {
    digest.add(each.value);
    digest.add(each.residual);
  }
  if (spectrum.error_bound >= 0.0) digest.add(spectrum.error_bound);
  return digest.hash();
}

void print_digest(const DistributedSolver& solver,
                  const std::string& name,
                  const DistributedSpectrum& found) {
  if (solver.team().rank() != 0) return;
  const auto hash = static_cast<unsigned long long>(digest_of(found));
  const Spectrum& spectrum = found.spectrum;
  std::printf("%s %016llx", name.c_str(), hash);
  if (spectrum.rounding_band > 0.0) {
    std::printf(" bound / band = %.2g", spectrum.error_bound / spectrum.rounding_band);
  }
  std::printf("\n");
}

void compare(const DistributedSolver& solver,
             const std::string& name,
             const MatrixXd& h,
             bool proves_fully) {
  const DistributedSpectrum found = spectrum_of(solver, h, proves_fully);
  const Spectrum& spectrum = found.spectrum;
  const Spectrum dense = dense_spectrum(h);
  const double band = dense.rounding_band;
  expect(spectrum.status == Status::kOk, name + ": status");
  if (spectrum.status != Status::kOk) return;
  expect(spectrum.proof == Proof::kDense, name + ": proof");
  expect(test::largest_difference(spectrum.eigenvalues, dense.eigenvalues) <= band,
         name + ": eigenvalues");
  expect(std::abs(spectrum.median.value - dense.median.value) <= band, name + ": median");
  expect(spectrum.num_negative == dense.num_negative && spectrum.num_zero == dense.num_zero &&
             spectrum.num_positive == dense.num_positive && spectrum.num_dead == dense.num_dead,
         name + ": counts");
  expect(found.diagonal == h.diagonal(), name + ": diagonal");
  const double norm = detail::norm(h);
  expect(std::abs(found.frobenius_norm - norm) <= 1e-13 * norm, name + ": norm");
  for (const Eigenvalue& each : {spectrum.smallest, spectrum.median, spectrum.largest}) {
    expect(each.residual <= band, name + ": residual");
  }
  expect(proves_fully == (spectrum.error_bound <= spectrum.rounding_band), name + ": bound");
  print_digest(solver, name, found);
}

// Without a full proof, on one rank, and with one; not by ELPA where a rank would have no rows.
void compare_proofs(const DistributedSolver& solver, const std::string& name, const MatrixXd& h) {
  if (solver.engine() == DistributedEngine::kScalapack) {
    if (solver.grid() == 1) compare(solver, name, h, false);
    return compare(solver, name + " in full", h, true);
  }
  try {
    require_grid_for_elpa(h.rows(), solver.grid());
  } catch (const ConfigError&) {
    bool is_refused = false;
    try {
      solver.matrix(h.rows(), true);
    } catch (const ConfigError&) {
      is_refused = true;
    }
    return expect(is_refused, name + ": too few rows for all ranks");
  }
  compare(solver, name + " in full", h, true);
}

void compare_random(const DistributedSolver& solver, Index n) {
  compare_proofs(solver,
                 "random-" + std::to_string(n),
                 test::random_symmetric(n, static_cast<std::uint64_t>(n)));
}

test::GoldenHessian trained_mlp() {
  for (test::GoldenHessian& golden : test::golden_hessians()) {
    if (golden.name.ends_with("tanh/golden-000400.npz")) return std::move(golden);
  }
  throw OutputError("no golden Hessian of a trained mlp");
}

// The larger, the more sums of ranks there are whose order may be another one.
void print_digests(const DistributedSolver& solver) {
  const test::GoldenHessian golden = trained_mlp();
  for (const bool proves_fully : {false, true}) {
    if (!proves_fully && solver.engine() == DistributedEngine::kElpa) continue;
    const std::string suffix = proves_fully ? " in full" : "";
    print_digest(solver,
                 "random-150" + suffix,
                 spectrum_of(solver, test::random_symmetric(150, 150), proves_fully));
    print_digest(solver, golden.name + suffix, spectrum_of(solver, golden.hessian, proves_fully));
  }
}

void compare_all(const DistributedSolver& solver) {
  for (const test::GoldenHessian& golden : test::golden_hessians()) {
    compare_proofs(solver, golden.name, golden.hessian);
  }
  // About blocks of 64.
  for (const Index n : {1, 2, 63, 64, 65, 129}) compare_random(solver, n);
  compare_proofs(solver, "zero", MatrixXd::Zero(70, 70));
  compare_proofs(solver, "identity", MatrixXd::Identity(200, 200));
  compare_proofs(solver, "tiny", 0x1p-1000 * test::laplacian(100));
}

// An objective with n parameters whose Hessian is never held as a whole: H_ij = cos(i j), i != j,
// and H_ii = i.
class FormulaObjective final : public Objective {
 public:
  explicit FormulaObjective(Index n) : n_(n) {}

  Index num_parameters() const override { return n_; }

  Index num_samples() const override { return 1; }

  std::span<const ParameterBlock> parameter_blocks() const override { return {}; }

  double do_value(const ConstVectorRef&, SampleRange) const override { return 0.0; }

  ValueAndGradient do_value_and_gradient(const ConstVectorRef&, SampleRange) const override {
    return {0.0, Vector::Zero(n_)};
  }

  Matrix do_hessian_times(const ConstVectorRef&,
                          const ConstMatrixRef&,
                          SampleRange) const override {
    return {};
  }

  Matrix do_hessian(const ConstVectorRef&, SampleRange, const ProgressCallback&) const override {
    return {};
  }

  Matrix do_per_sample_gradients(const ConstVectorRef&, SampleRange) const override { return {}; }

  double workspace_bytes() const override { return 0.0; }

  Matrix do_hessian_columns(const ConstVectorRef&,
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

void measure(const DistributedSolver& solver, Index n, bool proves_fully) {
  const auto run = [&](Index size) {
    const FormulaObjective objective(size);
    const DistributedSpectrum found = distributed_spectrum(
        solver, objective, VectorXd::Zero(size), {.proves_fully = proves_fully});
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
      distributed_spectrum(solver, objective, theta, {.proves_fully = true});
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
  if (argc < 4) return 2;
  const std::string mode = argv[3];
  const int number = argc > 4 ? std::atoi(argv[4]) : 0;
  const auto team = std::make_shared<MpiTeam>(std::max(1, number_in("OMPI_COMM_WORLD_SIZE")),
                                              number_in("OMPI_COMM_WORLD_RANK"));
  team->begin();
  try {
    const auto solver =
        distributed_solver(team, distributed_engine_of(argv[1]), std::atoi(argv[2]));
    if (mode == "memory" || mode == "proved") {
      measure(*solver, number, mode == "proved");
    } else if (mode == "lack") {
      try_without_memory(*solver, number);
    } else if (mode == "bits") {
      print_digests(*solver);
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
