// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a model predicts what whoever wrote it says that it does.
#pragma once

#include <string>

#include <Eigen/Core>

#include <hesscope/models/model.h>
#include <hesscope/objective/graph_objective.h>

namespace hesscope::detail {

/// Compares the model's predictions at theta with an array `predictions` of the data, of shape
/// (samples, ...), as many numbers a sample as the model predicts.
/// @param checkpoint  what messages call the point.
/// @return what to know where there is such an array but it cannot be compared; else empty.
/// @throws InputError naming the sample and both values where they differ by more than 1e-4 of the
///         largest of all: the model is another than the one that predicted.
/// @cost   predictions of all samples.
std::string check_predictions(const GraphObjective& objective,
                              const Eigen::VectorXd& theta,
                              const TensorShapes& data,
                              const std::string& checkpoint);

}  // namespace hesscope::detail
