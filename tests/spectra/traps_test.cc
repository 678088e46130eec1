// SPDX-License-Identifier: BSD-3-Clause
//
// Matrices on which iterative eigensolvers report wrong eigenvalues with small residuals, 100 seeds
// each. No wrong value may carry a proof; the results of Spectra's own solver are recorded for
// comparison.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <ostream>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <Spectra/MatOp/DenseSymMatProd.h>
#include <Spectra/SymEigsSolver.h>
#include <gtest/gtest.h>

#include <hesscope/core/constants.h>
#include <hesscope/spectra/counts.h>
#include <hesscope/spectra/extremes.h>
#include <hesscope/spectra/spectrum.h>

#include "support/matrices.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::uint64_t kNumSeeds = 100;

struct Trap {
  const char* name;
  MatrixXd (*make)(std::uint64_t seed);
  std::vector<Index> num_smallest;
  std::vector<Index> num_largest;
};

void PrintTo(const Trap& trap, std::ostream* out) { *out << trap.name; }

const Trap kTraps[] = {
    {"Rank20Of100",
     [](std::uint64_t seed) -> MatrixXd {
       const MatrixXd factor = test::random_matrix(100, 20, seed);
       return factor * factor.transpose();
     },
     {1, 3, 5, 8},
     {1, 8}},
    {"TenfoldLargest",
     [](std::uint64_t seed) {
       VectorXd values = VectorXd::LinSpaced(100, 0.0, 1.0);
       values.tail(10).setConstant(5.0);
       return test::with_eigenvalues(values, seed);
     },
     {1},
     {1, 8}},
    {"TenfoldLargestAtTheBulk",
     [](std::uint64_t seed) {
       VectorXd values = VectorXd::LinSpaced(100, 0.0, 1.0);
       values.tail(10).setConstant(values[89] + 1e-3);
       return test::with_eigenvalues(values, seed);
     },
     {1},
     {8}},
    {"Zero", [](std::uint64_t) -> MatrixXd { return MatrixXd::Zero(100, 100); }, {1, 3}, {1, 8}},
    {"Identity",
     [](std::uint64_t) -> MatrixXd { return MatrixXd::Identity(100, 100); },
     {1, 3},
     {1, 8}},
    {"RankOne",
     [](std::uint64_t seed) -> MatrixXd {
       const VectorXd u = test::random_matrix(100, 1, seed);
       return u * u.transpose();
     },
     {1, 3},
     {1, 3}},
    {"ClusteredWithin1e13",
     [](std::uint64_t seed) {
       return test::with_eigenvalues(VectorXd::LinSpaced(100, 1.0, 1.0 + 1e-13), seed);
     },
     {1, 3},
     {1, 3}},
    {"ClusteredWithin1e6",
     [](std::uint64_t seed) {
       return test::with_eigenvalues(VectorXd::LinSpaced(100, 1.0, 1.0 + 1e-6), seed);
     },
     {1, 3},
     {1, 3}},
    {"GradedOver1e12",
     [](std::uint64_t seed) {
       const VectorXd exponents = VectorXd::LinSpaced(100, -12.0 * std::log(10.0), 0.0);
       return test::with_eigenvalues(exponents.array().exp(), seed);
     },
     {1, 5},
     {1, 5}},
    {"PlusMinusPairs",
     [](std::uint64_t seed) {
       VectorXd values(100);
       for (Index i = 0; i < 100; ++i) {
         values[i] = (i % 2 == 0 ? 1.0 : -1.0) * static_cast<double>(1 + i / 2);
       }
       return test::with_eigenvalues(values, seed);
     },
     {1, 5},
     {1, 5}},
    {"DoubleOutlierBesideOthers",
     [](std::uint64_t seed) {
       VectorXd values = VectorXd::LinSpaced(100, -1.0, 1.0);
       values.tail(3) << 9.999, 10.0, 10.0;
       return test::with_eigenvalues(values, seed);
     },
     {1},
     {2, 3}},
    {"NearUnderflow",
     [](std::uint64_t seed) -> MatrixXd { return 1e-300 * test::random_symmetric(100, seed); },
     {1},
     {1}},
    {"OneRow",
     [](std::uint64_t seed) -> MatrixXd { return test::random_matrix(1, 1, seed); },
     {1},
     {1}},
    {"TwoRows",
     [](std::uint64_t seed) -> MatrixXd { return test::random_symmetric(2, seed); },
     {1, 2},
     {1, 2}},
    {"ThreeRows",
     [](std::uint64_t seed) -> MatrixXd { return test::random_symmetric(3, seed); },
     {1, 3},
     {1, 3}},
};

struct Tally {
  int num_right = 0;
  int num_wrong = 0;  // beyond the bound stated, or a bound that says little
  int num_unproved = 0;
};

// `expected`: the outermost first.
void judge(const EndOfSpectrum& end, const VectorXd& expected, double norm, Tally& tally) {
  if (end.status != Status::kOk) {
    ++tally.num_unproved;
    return;
  }
  const double rounding = 1e-13 * norm;  // of `expected`, and at least the smallest number there is
  const bool is_right =
      end.values.size() == expected.size() &&
      test::largest_difference(end.values, expected) <= end.error_bound + rounding &&
      end.error_bound <= 1e-6 * norm;
  ++(is_right ? tally.num_right : tally.num_wrong);
}

// Spectra with its usual sizes, as in its documentation, but at most 100 restarts: where it has not
// converged by then (graded spectra), another 900 only take time.
void judge_bare_spectra(const MatrixXd& h,
                        Spectra::SortRule rule,
                        const VectorXd& expected,
                        double norm,
                        Tally& tally) {
  const Index n = h.rows();
  const Index k = expected.size();
  try {
    Spectra::DenseSymMatProd<double> op(h);
    Spectra::SymEigsSolver<Spectra::DenseSymMatProd<double>> solver(
        op, k, std::min(n, std::max<Index>(2 * k + 1, 20)));
    solver.init();
    solver.compute(rule, 100, 1e-6, rule);
    if (solver.info() != Spectra::CompInfo::Successful) {
      ++tally.num_unproved;
      return;
    }
    const bool is_right = test::largest_difference(solver.eigenvalues(), expected) <= 1e-5 * norm;
    ++(is_right ? tally.num_right : tally.num_wrong);
  } catch (const std::exception&) {
    ++tally.num_unproved;
  }
}

class Traps : public ::testing::TestWithParam<Trap> {
 protected:
  void record(const std::string& who, const Tally& tally) {
    RecordProperty(who + "_right", tally.num_right);
    RecordProperty(who + "_wrong", tally.num_wrong);
    RecordProperty(who + "_unproved", tally.num_unproved);
    std::printf("  %-12s right %4d  wrong %4d  unproved %4d\n",
                who.c_str(),
                tally.num_right,
                tally.num_wrong,
                tally.num_unproved);
  }
};

TEST_P(Traps, NoWrongValueCarriesAProof) {
  Tally matrix_free;
  Tally counted;
  Tally dense;
  Tally ranked;
  Tally bare;
  for (std::uint64_t seed = 0; seed < kNumSeeds; ++seed) {
    const MatrixXd h = GetParam().make(seed);
    const Index n = h.rows();
    const VectorXd values = dense_spectrum(h).eigenvalues;
    ASSERT_EQ(values.size(), n);
    const double norm = test::largest_magnitude(values);
    const MatrixOperator op(h);
    const auto judge_ends = [&](Index num_smallest, Index num_largest) {
      const VectorXd smallest = values.head(num_smallest);
      const VectorXd largest = values.tail(num_largest).reverse();
      const auto judge_both = [&](const Extremes& found, Tally& tally) {
        if (num_smallest > 0) judge(found.smallest, smallest, norm, tally);
        if (num_largest > 0) judge(found.largest, largest, norm, tally);
      };
      ExtremesOptions options;
      options.num_smallest = num_smallest;
      options.num_largest = num_largest;
      options.seed = seed;
      judge_both(extreme_eigenpairs(op, options), dense);
      options.dense_limit = 0;
      judge_both(extreme_eigenpairs(op, options), matrix_free);
      judge_both(extreme_eigenpairs(h, options), counted);
    };
    for (const Index k : GetParam().num_smallest) {
      judge_ends(k, 0);
      judge_bare_spectra(h, Spectra::SortRule::SmallestAlge, values.head(k), norm, bare);
    }
    for (const Index k : GetParam().num_largest) {
      judge_ends(0, k);
      judge_bare_spectra(h, Spectra::SortRule::LargestAlge, values.tail(k).reverse(), norm, bare);
    }
    judge_ends(1, 1);

    EigenvalueCounter counter(h);
    for (const Index rank : {Index{0}, (n - 1) / 2, n - 1}) {
      const RankedEigenvalue found = counter.eigenvalue(rank);
      const bool is_right = found.status == Status::kOk && found.lower <= values[rank] &&
                            values[rank] <= found.upper &&
                            found.upper - found.lower <= 1e-12 * norm;
      ++(is_right || norm == 0.0 ? ranked.num_right : ranked.num_wrong);
    }
  }
  record("matrix_free", matrix_free);
  record("counted", counted);
  record("dense", dense);
  record("ranked", ranked);
  record("bare_spectra", bare);
  for (const Tally& tally : {matrix_free, counted, dense, ranked}) {
    EXPECT_EQ(tally.num_wrong, 0);
    EXPECT_EQ(tally.num_unproved, 0);
    EXPECT_GT(tally.num_right, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Traps, ::testing::ValuesIn(kTraps), [](const auto& tested) {
  return std::string(tested.param.name);
});

TEST(Traps, BareSpectraReportsWrongEigenvaluesOfARankDeficientMatrix) {
  Tally bare;
  for (std::uint64_t seed = 0; seed < kNumSeeds; ++seed) {
    const MatrixXd factor = test::random_matrix(100, 20, seed);
    const MatrixXd h = factor * factor.transpose();
    const Spectrum dense = dense_spectrum(h);
    judge_bare_spectra(
        h, Spectra::SortRule::SmallestAlge, dense.eigenvalues.head(3), dense.largest.value, bare);
  }
  EXPECT_GT(bare.num_wrong, 0);
}

TEST(Traps, NothingIsReportedOfNaN) {
  for (std::uint64_t seed = 0; seed < kNumSeeds; ++seed) {
    for (const Index n : {1, 2, 3, 100}) {
      MatrixXd h = test::random_symmetric(n, seed);
      const auto at = static_cast<Index>(seed) % n;
      h(n - 1, at) = h(at, n - 1) = kNaN;
      ExtremesOptions options;
      options.dense_limit = seed % 2 == 0 ? 0 : 300;
      const MatrixOperator op(h);
      for (const Extremes& found :
           {extreme_eigenpairs(h, options), extreme_eigenpairs(op, options)}) {
        for (const EndOfSpectrum& end : {found.smallest, found.largest}) {
          EXPECT_EQ(end.status, Status::kNonFinite);
          EXPECT_EQ(end.proof, Proof::kNone);
          EXPECT_EQ(end.values.size(), 0);
        }
      }
      EXPECT_EQ(EigenvalueCounter(h).median().status, Status::kNonFinite);
    }
  }
}

}  // namespace
}  // namespace hesscope
