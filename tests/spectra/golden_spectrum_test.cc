// SPDX-License-Identifier: BSD-3-Clause
//
// Hessians of trained models and their eigenvalues as NumPy computed them:
// tests/fixtures/*/golden-*.npz.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/io/tensor_file.h>
#include <hesscope/spectra/spectrum.h>

#include "support/files.h"

namespace hesscope {
namespace {

std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::fixtures())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("golden-") && name.ends_with(".npz")) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(DenseSpectrum, MatchesNumPyOnHessiansOfModels) {
  const std::vector<std::filesystem::path> files = golden_files();
  ASSERT_GE(files.size(), 20U);
  for (const std::filesystem::path& path : files) {
    SCOPED_TRACE(path.string());
    const io::TensorFile file = io::open_tensor_file(path);
    const std::vector<double> golden = file.read("eigenvalues");
    const std::vector<double> entries = file.read("hessian");
    const auto n = static_cast<Eigen::Index>(golden.size());
    ASSERT_EQ(entries.size(), golden.size() * golden.size());
    const Eigen::MatrixXd h =
        Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(entries.data(), n, n);
    const Eigen::VectorXd expected = Eigen::Map<const Eigen::VectorXd>(golden.data(), n);

    const Spectrum spectrum = dense_spectrum(h);
    ASSERT_EQ(spectrum.status, Status::kOk);
    // Either solver may err by the rounding band.
    EXPECT_LE((spectrum.eigenvalues - expected).cwiseAbs().maxCoeff(),
              2.0 * spectrum.rounding_band);
    EXPECT_NEAR(spectrum.median.value, lower_median(expected), 2.0 * spectrum.rounding_band);
    for (const Eigenvalue& e : {spectrum.smallest, spectrum.median, spectrum.largest}) {
      EXPECT_LE(e.residual, spectrum.rounding_band);
    }
  }
}

}  // namespace
}  // namespace hesscope
