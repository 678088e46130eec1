// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/models/model.h>

namespace hesscope {

/// Sample records, one per row: num_samples x model.record_size().
using SampleTable = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Puts a model's arrays side by side, expanding class indices to one-hot entries.
///
/// @param read    gives array `name` row-major, num_samples x (entries per sample).
/// @param source  the file the arrays come from, for messages.
/// @throws InputError naming source, array and sample: a class that is no integer in range, a sign
///         that is not +-1, a number that is not finite, an array of another length.
SampleTable make_sample_table(
    const Model& model,
    Eigen::Index num_samples,
    const std::function<std::vector<double>(const std::string& name)>& read,
    const std::string& source);

namespace detail {

inline std::span<const double> span_of(const Eigen::VectorXd& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

}  // namespace detail
}  // namespace hesscope
