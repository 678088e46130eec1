// SPDX-License-Identifier: BSD-3-Clause
//
// What tests of sampling errors share: objectives whose samples have matrices for Hessians, at any
// point, and the figures of their spectra.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/objective/objective.h>
#include <hesscope/spectra/sampling_error.h>

#include "support/decompositions.h"
#include "support/matrices.h"
#include "support/maxima.h"
#include "support/quadratic_objective.h"

namespace hesscope::test {

inline constexpr SpectralFigure kAllFigures[] = {SpectralFigure::kLambdaMax,
                                                 SpectralFigure::kLambdaMin,
                                                 SpectralFigure::kLambdaMedian,
                                                 SpectralFigure::kMedianMagnitude,
                                                 SpectralFigure::kRobustEigenvalue,
                                                 SpectralFigure::kRobustAbsolute,
                                                 SpectralFigure::kRobustDiagonal};

inline std::string name_of(SpectralFigure figure) {
  return std::string(kSpectralFigureNames[index_of(figure)]);
}

inline void expect_close(double actual,
                         double expected,
                         double tolerance,
                         const std::string& what) {
  EXPECT_TRUE(std::abs(actual - expected) <= tolerance)
      << what << ": " << actual << ", expected " << expected;
}

inline double lower_middle(Eigen::VectorXd values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

/// By their definitions, from Eigen's decomposition.
inline Eigen::VectorXd naive_figures(const Eigen::MatrixXd& h) {
  const Eigen::VectorXd values = eigenvalues(h);
  const Eigen::VectorXd diagonal = h.diagonal().cwiseAbs();
  Eigen::VectorXd figures(7);
  figures << values.maxCoeff<Eigen::PropagateNaN>(), values.minCoeff<Eigen::PropagateNaN>(),
      lower_middle(values), lower_middle(values.cwiseAbs()),
      values.maxCoeff<Eigen::PropagateNaN>() / lower_middle(values),
      largest_magnitude(values) / lower_middle(values.cwiseAbs()),
      diagonal.maxCoeff<Eigen::PropagateNaN>() / lower_middle(diagonal);
  return figures;
}

/// base + spread E_i with random symmetric E_i.
inline std::vector<Eigen::MatrixXd> scattered(const Eigen::MatrixXd& base,
                                              double spread,
                                              Eigen::Index num_samples) {
  std::vector<Eigen::MatrixXd> matrices;
  for (Eigen::Index i = 0; i < num_samples; ++i) {
    const auto seed = static_cast<std::uint64_t>(1000 + i);
    matrices.push_back(base + spread * random_symmetric(base.rows(), seed));
  }
  return matrices;
}

/// Samples whose Hessians are diagonal matrices.
inline QuadraticObjective diagonals(const std::vector<Eigen::VectorXd>& entries) {
  std::vector<Eigen::MatrixXd> matrices;
  for (const Eigen::VectorXd& d : entries) matrices.emplace_back(d.asDiagonal());
  return QuadraticObjective(matrices);
}

inline Eigen::VectorXd zero_for(const Objective& objective) {
  return Eigen::VectorXd::Zero(objective.num_parameters());
}

inline SamplingErrorEstimates errors_of(const Objective& objective, Eigen::Index num_blocks) {
  return sampling_errors(objective, zero_for(objective), {.num_blocks = num_blocks});
}

}  // namespace hesscope::test
