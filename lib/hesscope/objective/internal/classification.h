// SPDX-License-Identifier: BSD-3-Clause
//
// Which models classify, and when a sample is classified correctly.
#pragma once

#include <Eigen/Core>

#include <hesscope/models/model.h>

namespace hesscope::detail {

/// The array that holds the right answers of a classifier: the only one of one class a sample, of
/// as many as the prediction has entries, or of signs, with a prediction of one entry. nullptr for
/// other models.
const DataArray* answers_of(const Model& model);

/// Whether a prediction is right: the logit of the class exceeds all others, or the number has the
/// sign. Ties, zeros and NaN are not.
/// @param  array   as answers_of() gives it.
/// @param  answer  its entries in a sample's record.
bool is_correct(const Eigen::Ref<const Eigen::VectorXd>& prediction,
                const DataArray& array,
                const double* answer);

}  // namespace hesscope::detail
