// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/models/model.h>

namespace hesscope {

/// Sample records, one per row: num_samples x model.record_size().
using SampleTable = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Puts a model's arrays side by side, expanding class indices to one-hot entries.
///
/// @param read    gives array `name` row-major, num_samples x (entries per sample).
/// @param source  the file the arrays come from, for messages.
/// @throws InputError naming source, array and sample: a class or a whole number that is none, or
///         out of range, a sign that is not +-1, a number that is not finite, an array of another
///         length; PreconditionError if num_samples is negative, `read` is empty or the model's
///         arrays are not as ModelBuilder makes them.
SampleTable make_sample_table(
    const Model& model,
    Eigen::Index num_samples,
    const std::function<std::vector<double>(const std::string& name)>& read,
    const std::string& source);

namespace detail {

/// Checks that a model's arrays follow one another in a record, each as wide as its numbers, or
/// their one-hot entries, are; `function` begins the message. @throws PreconditionError.
void require_record(const char* function, const Model& model);

/// A number that an array cannot hold.
struct BadEntry {
  double found;
  std::string expected;  ///< "a class index 0 ... 9"
};

/// Puts the numbers that one sample has of an array where they belong in its record, which is 0
/// there. Real numbers may be any.
/// @param values  array.num_values() of them.
/// @param record  the sample's, of which array.width entries from array.offset on are written.
std::optional<BadEntry> put_entries(const DataArray& array, const double* values, double* record);

inline std::span<const double> span_of(const Eigen::VectorXd& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}

}  // namespace detail
}  // namespace hesscope
