// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <hesscope/core/executor.h>
#include <hesscope/models/model.h>
#include <hesscope/models/tensor_shapes.h>
#include <hesscope/objective/sample_table.h>
#include <hesscope/sampling/sampler.h>

namespace hesscope {

/// Names and shapes of a sampler's arrays as a data file of `num_samples` samples would have them.
/// @param source  what messages call the sampler.
TensorShapes shapes_of(const Sampler& sampler, std::int64_t num_samples, const std::string& source);

/// A sampler's samples as the records of a model. Thread-safe.
class SampledRecords {
 public:
  /// @param sampler  must outlive the object.
  /// @param source   what messages call it.
  /// @throws InputError naming the array that the sampler lacks or gives in another shape.
  SampledRecords(const Model& model, const Sampler& sampler, std::string source = "the sampler");
  SampledRecords(const Model& model, const Sampler&& sampler, std::string source = "") = delete;

  Eigen::Index record_size() const { return record_size_; }

  /// Writes the records of samples first, first + 1, ... of (seed, stream) one after the other, as
  /// many as there is room for in `records`.
  /// @throws InputError for a class out of range or a sign that is not +-1.
  void write(std::uint64_t seed,
             Stream stream,
             std::uint64_t first,
             std::span<double> records) const;

  /// The same from sample 0 on as a table, drawn on the executor's threads.
  /// @throws PreconditionError if num_samples < 1; OutputError as require_memory() for more than
  ///         there is memory for.
  SampleTable table(std::uint64_t seed,
                    Stream stream,
                    Eigen::Index num_samples,
                    const Executor& executor = Executor(1)) const;

 private:
  struct Part {
    DataArray array;          // of the model
    std::int64_t offset = 0;  // in the sampler's record
  };

  void convert(std::uint64_t index, std::span<const double> from, std::span<double> to) const;

  const Sampler* sampler_;
  std::string source_;
  std::vector<Part> parts_;
  Eigen::Index record_size_;
  bool is_direct_;  // the two records are the same
};

}  // namespace hesscope
