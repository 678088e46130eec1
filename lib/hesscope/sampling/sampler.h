// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <hesscope/sampling/random_stream.h>

namespace hesscope {

/// An array that a sampler makes, as a data file would hold it: (samples, shape...).
struct SampledArray {
  std::string name;
  std::vector<std::int64_t> shape;  ///< of one sample; empty for a scalar
  std::int64_t offset = 0;          ///< first entry in a sample's record
  std::int64_t size = 1;            ///< entries in the record
};

/// A distribution of samples: an endless data set. Sample `index` of a seed and a stream is the
/// same whoever asks for it, in whatever order, on whatever thread. Thread-safe.
class Sampler {
 public:
  virtual ~Sampler() = default;

  /// In record order; offsets and sizes tile [0, record_size()).
  std::span<const SampledArray> arrays() const { return arrays_; }

  std::int64_t record_size() const { return record_size_; }

  /// SHA-256 of each file that it was made from, of the bytes that were read, one after the other
  /// in the order of SamplerKind::files(); empty without files.
  virtual std::string files_sha256() const { return {}; }

  /// Writes one sample: its arrays side by side, each row-major. Classes are indices, signs +-1.
  /// @param record  record_size() entries.
  virtual void draw(std::uint64_t seed,
                    Stream stream,
                    std::uint64_t index,
                    std::span<double> record) const = 0;

 protected:
  /// Declares the next array, of this shape in every sample.
  void add_array(std::string name, std::vector<std::int64_t> shape);

 private:
  std::vector<SampledArray> arrays_;
  std::int64_t record_size_ = 0;
};

}  // namespace hesscope
