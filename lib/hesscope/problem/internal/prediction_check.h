// SPDX-License-Identifier: BSD-3-Clause
//
// Checks whether a model makes the predictions that its author recorded.
#pragma once

#include <functional>
#include <string>

#include <Eigen/Core>

#include <hesscope/models/tensor_shapes.h>
#include <hesscope/objective/graph_objective.h>

namespace hesscope::detail {

/// Compares an array `predictions` of the data, of shape (samples, ...), with as many numbers per
/// sample as the model predicts, with the model's predictions at the first checkpoint and, if they
/// differ, with those at the parameters in its own file. One of the two must be where the array was
/// computed.
/// @param theta, checkpoint  the first checkpoint's, and its name in messages.
/// @param own                predictions at the file's own parameters, requested only if the first
///                           checkpoint's differ; empty if there are none.
/// @return a remark if there is such an array but it cannot be compared, or has 64 bits and differs
///         by more than 1e-6 of the largest number; else empty.
/// @throws InputError naming the sample and both values if they differ by more than 1e-4 of the
///         largest number: the model is not the one that made the predictions.
/// @cost   predictions for all samples, once or twice.
std::string check_predictions(const GraphObjective& objective,
                              const Eigen::VectorXd& theta,
                              const TensorShapes& data,
                              const std::string& checkpoint,
                              const std::function<Eigen::MatrixXd()>& own);

/// The same for a model that computes its loss itself: `predictions` is then the mean over all
/// samples, without weight decay, as one number, or as one per sample.
/// @param own  the mean loss at the file's own parameters; NaN if it has none.
/// @cost  the loss of all samples, once or twice.
std::string check_mean_loss(const GraphObjective& objective,
                            const Eigen::VectorXd& theta,
                            const TensorShapes& data,
                            const std::string& checkpoint,
                            const std::function<double()>& own);

/// The mean loss without weight decay.
double mean_loss(const GraphObjective& objective, const Eigen::VectorXd& theta);

/// For a model whose loss takes predictions for logarithms of probabilities: a remark if one of
/// them exceeds 0 by more than rounding and therefore is not a logarithm of a probability; else
/// empty.
/// @param theta, checkpoint  a point, and its name in messages.
/// @cost   predictions for all samples.
std::string check_log_probabilities(const GraphObjective& objective,
                                    const Eigen::VectorXd& theta,
                                    const std::string& checkpoint);

}  // namespace hesscope::detail
