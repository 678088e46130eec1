// SPDX-License-Identifier: BSD-3-Clause
//
// Hessians of trained models and their eigenvalues as NumPy computed them:
// tests/fixtures/*/golden-*.npz.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"

namespace hesscope::test {

struct GoldenHessian {
  std::string name;
  Eigen::MatrixXd hessian;
  Eigen::VectorXd eigenvalues;  // ascending
};

/// In the order of their names; at least 20.
inline std::vector<GoldenHessian> golden_hessians() {
  std::vector<GoldenHessian> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(fixtures())) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("golden-") || !name.ends_with(".npz")) continue;
    const io::TensorFile file = io::open_tensor_file(entry.path());
    const std::vector<double> values = file.read("eigenvalues");
    const std::vector<double> entries = file.read("hessian");
    const auto n = static_cast<Eigen::Index>(values.size());
    EXPECT_EQ(entries.size(), values.size() * values.size()) << entry.path();
    found.push_back(
        {entry.path().string(),
         Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(entries.data(), n, n),
         Eigen::Map<const Eigen::VectorXd>(values.data(), n)});
  }
  EXPECT_GE(found.size(), 20U);
  std::sort(found.begin(), found.end(), [](const GoldenHessian& a, const GoldenHessian& b) {
    return a.name < b.name;
  });
  return found;
}

}  // namespace hesscope::test
