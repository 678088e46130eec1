// SPDX-License-Identifier: BSD-3-Clause
//
// Trained models evaluated elsewhere (NumPy; golden-*.npz), read back through the files a user has:
// problem.toml, a data file, and checkpoints in every format.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/analyzers/condition.h>
#include <hesscope/io/tensor_file.h>
#include <hesscope/problem/problem.h>
#include <hesscope/problem/problem_file.h>
#include <hesscope/spectra/spectrum.h>

#include "support/files.h"

namespace hesscope {
namespace {

namespace fs = std::filesystem;

// The golden numbers are sums over 16 to 512 samples in another order: a few hundred roundings.
constexpr double kFirstOrder = 1e-12;
constexpr double kSecondOrder = 1e-11;  // of ||H||_2
constexpr double kRatio = 1e-9;         // of two diagonal entries, the smaller known to 1e-11 ||H||

struct Golden {
  fs::path folder;
  std::string step;  // "000250"

  fs::path file() const { return folder / ("golden-" + step + ".npz"); }

  // Where the step's checkpoints lie: those of the runs in data/ have their .npz there.
  fs::path checkpoint(const std::string& extension) const {
    const std::string name = "step-" + step + extension;
    const std::string run = folder.filename().string();
    const std::string prefix = "linear-attention-s1-";
    if (extension == ".npz" && run.starts_with(prefix)) {
      return fs::path(HESSCOPE_TEST_DATA) / "linear-attention" / run.substr(prefix.size()) / name;
    }
    return folder / name;
  }
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.file().string(); }

std::vector<Golden> goldens() {
  std::vector<Golden> found;
  for (const auto& entry : fs::recursive_directory_iterator(test::fixtures())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("golden-") && name.ends_with(".npz")) {
      found.push_back({entry.path().parent_path(), name.substr(7, 6)});
    }
  }
  std::sort(found.begin(), found.end(), [](const Golden& a, const Golden& b) {
    return a.file() < b.file();
  });
  return found;
}

Eigen::VectorXd read(const io::TensorFile& file, const std::string& name) {
  const std::vector<double> values = file.read(name);
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

TEST(GoldenFixtures, AreAllThere) { EXPECT_EQ(goldens().size(), 22U); }

class GoldenStep : public testing::TestWithParam<Golden> {};

TEST_P(GoldenStep, IsReproducedFromEveryFormat) {
  const io::TensorFile golden = io::open_tensor_file(GetParam().file());
  const Eigen::VectorXd gradient = read(golden, "gradient");
  const Eigen::VectorXd eigenvalues = read(golden, "eigenvalues");
  const Eigen::Index n = gradient.size();
  const Eigen::MatrixXd hessian = read(golden, "hessian").reshaped<Eigen::RowMajor>(n, n);
  const double norm = eigenvalues.cwiseAbs().maxCoeff();
  ASSERT_GT(norm, 0);

  Eigen::MatrixXd first;
  for (const std::string extension : {".npz", ".h5"}) {
    SCOPED_TRACE(extension);
    const io::TensorFile checkpoint = io::open_tensor_file(GetParam().checkpoint(extension));
    EXPECT_EQ(checkpoint.format(), extension == ".npz" ? "npz" : "hdf5");
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
    EXPECT_TRUE((spectrum.eigenvalues - eigenvalues).cwiseAbs().maxCoeff() <= kSecondOrder * norm)
        << (spectrum.eigenvalues - eigenvalues).cwiseAbs().maxCoeff() / norm;
    const double ratio = read(golden, "robust_condition_diag")(0);
    const ConditionNumber robust = condition_numbers(H.diagonal(), spectrum).robust_diagonal;
    ASSERT_EQ(robust.status, Status::kOk);
    EXPECT_TRUE(std::abs(robust.value - ratio) <= kRatio * ratio) << robust.value << ", " << ratio;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Fixtures, GoldenStep, testing::ValuesIn(goldens()), [](const auto& instance) {
      std::string name = instance.param.folder.filename().string() + "_" + instance.param.step;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace hesscope
