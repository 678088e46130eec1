// SPDX-License-Identifier: BSD-3-Clause
//
// Whether a model predicts what whoever wrote it says that it does.
#pragma once

#include <functional>
#include <string>

#include <Eigen/Core>

#include <hesscope/models/tensor_shapes.h>
#include <hesscope/objective/graph_objective.h>

namespace hesscope::detail {

/// Compares an array `predictions` of the data, of shape (samples, ...), as many numbers a sample
/// as the model predicts, with what it predicts at the first checkpoint and, where that is
/// something else, at the parameters that its own file has: one of them is where they were made.
/// @param theta, checkpoint  the first checkpoint's, and what messages call it.
/// @param own                predictions at the file's own parameters, asked for only where the
///                           first checkpoint's are others; empty if it has none.
/// @return what to know where there is such an array but it cannot be compared, or is of 64 bits
///         and differs by more than 1e-6 of the largest of all; else empty.
/// @throws InputError naming the sample and both values where they differ by more than 1e-4 of the
///         largest of all: the model is another than the one that predicted.
/// @cost   predictions of all samples, once or twice.
std::string check_predictions(const GraphObjective& objective,
                              const Eigen::VectorXd& theta,
                              const TensorShapes& data,
                              const std::string& checkpoint,
                              const std::function<Eigen::MatrixXd()>& own);

/// The same for a model that computes its loss itself, of which `predictions` is the mean over all
/// samples, without weight decay: one number, or one for each sample.
/// @param own  the mean loss at the file's own parameters; NaN if it has none.
/// @cost  the loss of all samples, once or twice.
std::string check_mean_loss(const GraphObjective& objective,
                            const Eigen::VectorXd& theta,
                            const TensorShapes& data,
                            const std::string& checkpoint,
                            const std::function<double()>& own);

/// The mean loss without weight decay.
double mean_loss(const GraphObjective& objective, const Eigen::VectorXd& theta);

/// For a model whose loss takes predictions for logarithms of probabilities: what to know where one
/// of them is above 0 by more than rounding, and so is none; else empty.
/// @param theta, checkpoint  a point, and what messages call it.
/// @cost   predictions of all samples.
std::string check_log_probabilities(const GraphObjective& objective,
                                    const Eigen::VectorXd& theta,
                                    const std::string& checkpoint);

}  // namespace hesscope::detail
