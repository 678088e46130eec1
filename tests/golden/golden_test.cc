// SPDX-License-Identifier: BSD-3-Clause
//
// Trained models evaluated elsewhere (golden-*.npz), read back through the files a user has:
// problem.toml, a data file, and checkpoints in every format.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/problem/problem.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/spectra/condition_numbers.h>
#include <hesscope/spectra/spectrum.h>
#include <hesscope/tensors/tensor_file.h>

#include "golden/goldens.h"
#include "support/maxima.h"

namespace hesscope {
namespace {

using test::Golden;
using test::goldens;

// The golden numbers are sums over 16 to 512 samples in another order: a few hundred roundings.
constexpr double kFirstOrder = 1e-12;
constexpr double kSecondOrder = 1e-11;  // of ||H||_2
constexpr double kRatio = 1e-9;         // of two diagonal entries, the smaller known to 1e-11 ||H||

Eigen::VectorXd read(const io::TensorFile& file, const std::string& name) {
  const std::vector<double> values = file.read(name);
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

const std::vector<std::pair<std::string, std::string>> kFormats = {
    {".npz", "npz"}, {".h5", "hdf5"}, {".safetensors", "safetensors"}, {".pt", "pt"}};

bool is_of_some_steps(const std::string& extension) {
  return extension == ".safetensors" || extension == ".pt";
}

TEST(GoldenFixtures, AreAllThere) {
  const std::vector<Golden> all = goldens();
  EXPECT_EQ(all.size(), 26U);
  const auto num_in = [&](const std::string& extension) {
    return std::count_if(all.begin(), all.end(), [&](const Golden& golden) {
      return std::filesystem::exists(golden.checkpoint(extension));
    });
  };
  EXPECT_EQ(num_in(".safetensors"), 8);
  EXPECT_EQ(num_in(".pt"), 9);
}

class GoldenStep : public testing::TestWithParam<Golden> {};

TEST_P(GoldenStep, IsReproducedFromEveryFormat) {
  const io::TensorFile golden = io::open_tensor_file(GetParam().file());
  const Eigen::VectorXd gradient = read(golden, "gradient");
  const Eigen::VectorXd eigenvalues = read(golden, "eigenvalues");
  const Eigen::Index n = gradient.size();
  const Eigen::MatrixXd hessian = read(golden, "hessian").reshaped<Eigen::RowMajor>(n, n);
  const double norm = test::largest_magnitude(eigenvalues);
  ASSERT_GT(norm, 0);

  Eigen::MatrixXd first;
  for (const auto& [extension, format] : kFormats) {
    SCOPED_TRACE(extension);
    const std::filesystem::path path = GetParam().checkpoint(extension);
    if (is_of_some_steps(extension) && !std::filesystem::exists(path)) continue;
    const io::TensorFile checkpoint = io::open_tensor_file(path);
    EXPECT_EQ(checkpoint.format(), format);
    const Problem problem(read_problem_file(GetParam().folder / "problem.toml"), checkpoint);
    const Eigen::VectorXd theta = problem.read_parameters(checkpoint);
    EXPECT_EQ(theta, read(golden, "theta"));

    const Objective& objective = problem.objective();
    const auto [value, g] = objective.value_and_gradient(theta, objective.all_samples());
    const double loss = read(golden, "loss")(0);
    EXPECT_TRUE(std::abs(value - loss) <= kFirstOrder * std::abs(loss)) << value << ", " << loss;
    EXPECT_TRUE((g - gradient).norm() <= kFirstOrder * gradient.norm())
        << (g - gradient).norm() / gradient.norm();

    const Eigen::MatrixXd H = objective.hessian(theta);
    ASSERT_EQ(H.rows(), n);
    EXPECT_TRUE((H - hessian).norm() <= kSecondOrder * norm) << (H - hessian).norm() / norm;
    if (first.size() == 0) first = H;
    EXPECT_EQ(H, first);

    const Spectrum spectrum = dense_spectrum(H);
    ASSERT_EQ(spectrum.status, Status::kOk);
    EXPECT_TRUE(test::largest_difference(spectrum.eigenvalues, eigenvalues) <= kSecondOrder * norm)
        << test::largest_difference(spectrum.eigenvalues, eigenvalues) / norm;
    const double ratio = read(golden, "robust_condition_diag")(0);
    const Statistic robust = condition_numbers(H.diagonal(), spectrum).robust_diagonal;
    ASSERT_EQ(robust.status, Status::kOk);
    EXPECT_TRUE(std::abs(robust.value - ratio) <= kRatio * ratio) << robust.value << ", " << ratio;
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, GoldenStep, testing::ValuesIn(goldens()), test::golden_name);

}  // namespace
}  // namespace hesscope
