// SPDX-License-Identifier: BSD-3-Clause
//
// The peak memory of a full Hessian, as the operating system saw it.
#include <sys/resource.h>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/models/mlp.h>
#include <hesscope/objective/graph_objective.h>

#include "support/sanitizers.h"

namespace hesscope {
namespace {

constexpr double kMegabyte = 1 << 20;

// High-water mark of resident memory, in bytes.
double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

// Each test needs a process of its own (ALONE in CMakeLists.txt): the mark never falls.
void expect_matrix_and_scratch(bool use_structure, double max_scratch) {
  const Model model = mlp({.widths = {4, 42, 42, 3}});
  const Eigen::Index n = model.num_parameters();
  ASSERT_GT(n, 2000);
  // One Hessian per sample would take 4 GB.
  SampleTable samples = SampleTable::Constant(128, model.record_size(), 0.25);
  samples.rightCols(2).setZero();
  samples.col(4).setOnes();
  const GraphObjective objective{
      model, samples, {.num_threads = 4, .use_structure = use_structure}};
  const Eigen::VectorXd theta = Eigen::VectorXd::LinSpaced(n, -0.5, 0.5);
  objective.gradient(theta);  // threads and allocator awake

  const double before = peak_bytes();
  const Eigen::MatrixXd H = objective.hessian(theta);
  const double grown = peak_bytes() - before;
  const double matrix = static_cast<double>(n * n) * sizeof(double);
  EXPECT_GT(H.norm(), 0);
  EXPECT_GE(grown, 0.9 * matrix) << "the measurement does not see the matrix";
  // workspace_bytes() is an upper estimate; what else grows are thread stacks and arenas.
  EXPECT_LE(grown, matrix + objective.workspace_bytes() + 8 * kMegabyte);
  EXPECT_LE(objective.workspace_bytes(), max_scratch);
}

TEST(GraphObjective, NeedsTheMatrixAndABoundedScratchForAHessian) {
  if (test::kMemoryIsInstrumented)
    GTEST_SKIP() << "a sanitizer's shadow memory would be measured too";
  expect_matrix_and_scratch(false, 24 * kMegabyte);
}

TEST(GraphObjective, NeedsABoundedScratchForAStructuredHessian) {
  if (test::kMemoryIsInstrumented)
    GTEST_SKIP() << "a sanitizer's shadow memory would be measured too";
  expect_matrix_and_scratch(true, 128 * kMegabyte);
}

}  // namespace
}  // namespace hesscope
