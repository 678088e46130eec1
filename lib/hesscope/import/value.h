// SPDX-License-Identifier: BSD-3-Clause
//
// The values of a graph while it is imported.
//
// The first axis of every input is the batch: N samples, where N is arbitrary. A tensor that
// depends on an input has one axis whose size has the factor N; other tensors (parameters, masks)
// are the same for all samples. Once each operator is known to keep samples apart, N is set to 1:
// what is recorded on the Graph is the part of one sample, and the batch remains as a mark on its
// axis for subsequent operators.
//
//   (T, N H, d)   an attention's scores by head: axes {T}, {H, batch in front}, {d}
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/autodiff/graph.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope::onnx {

/// One axis of a tensor.
struct Axis {
  std::int64_t size = 1;  ///< for one sample
  bool has_batch = false;
  /// On the axis with the batch, the index runs over before * N * (size / before) entries, the
  /// first factor being the most significant.
  std::int64_t before = 1;

  bool operator==(const Axis&) const = default;
};

using Axes = std::vector<Axis>;

/// The batch alone.
inline constexpr Axis kBatchAxis = {.size = 1, .has_batch = true};

/// Entries for one sample; 1 for a scalar; the largest representable number if there are more.
std::int64_t size_of(const Axes& axes);

/// The axis whose size has the factor N; -1 if there is none.
int batch_axis(const Axes& axes);

/// "(N, 3, 2 N 4)", for messages.
std::string text(const Axes& axes);

/// Axes without the batch.
Axes plain_axes(const std::vector<std::int64_t>& shape);

/// Sizes for one sample.
std::vector<std::int64_t> sizes_of(const Axes& axes);

/// Known whole numbers or truth values, such as shapes: entry e is base[e] + per_sample[e] N.
struct Integers {
  std::vector<std::int64_t> base;
  std::vector<std::int64_t> per_sample = {};  ///< empty: all 0

  bool depends_on_batch() const;

  std::int64_t slope(std::size_t e) const { return per_sample.empty() ? 0 : per_sample[e]; }
};

/// For integers that number the samples, what is known in addition to their value for the first
/// sample (sample_numbers.h).
struct SampleNumbers {
  std::vector<std::int64_t> steps;  ///< for sample n, entry e is larger by steps[e] n
  /// Whether numbers taken from data are still to be multiplied by N, as is the position i in front
  /// of the batch in i N + n.
  bool is_times_batch = false;
};

/// A total over the batch. The value itself is that of the summed quantity for one sample
/// (internal/batch_totals.h).
struct BatchTotal {
  enum class Kind {
    kMean,
    kSum,
    kCount,  ///< the number of samples, as a real number
  };

  Kind kind = Kind::kMean;
  std::string place;  ///< the node that computes it

  const char* name() const { return kind == Kind::kMean ? "mean" : "sum"; }
};

/// A tensor of the imported graph: known integers, or numbers on the Graph (including constants);
/// or a sequence of tensors.
struct Value {
  ElementKind kind = ElementKind::kReal;
  Axes axes;
  std::optional<Var> var = {};  ///< of size_of(axes) entries, row by row, in any shape
  std::shared_ptr<const Integers> integers = {};
  bool is_single = false;  ///< 32 bits in the file; entries still have 64
  std::shared_ptr<const std::vector<Value>> tensors = {};  ///< of a sequence, which has no axes
  /// For integers that number the samples; otherwise null.
  std::shared_ptr<const SampleNumbers> sample_numbers = {};
  /// For a total over the batch; otherwise null.
  std::shared_ptr<const BatchTotal> batch_total = {};

  bool counts_samples() const { return sample_numbers != nullptr; }

  bool is_sequence() const { return tensors != nullptr; }

  bool is_known() const { return integers != nullptr; }

  /// The integer or truth value of a tensor with one entry, if it is known and the same for any
  /// number of samples.
  std::optional<std::int64_t> single_integer() const;

  int rank() const { return static_cast<int>(axes.size()); }

  std::int64_t size() const { return size_of(axes); }
};

/// The nearest number of 32 bits.
inline double as_single(double x) { return static_cast<double>(static_cast<float>(x)); }

}  // namespace hesscope::onnx
