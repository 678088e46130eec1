// SPDX-License-Identifier: BSD-3-Clause
//
// What a graph's values are while it is imported.
//
// The first axis of every input is the batch: N samples, whatever N is. A tensor that depends on an
// input has one axis that N is a factor of; those that do not (parameters, masks) are the same for
// all samples. Once each operator is known to keep samples apart, N is 1: what is recorded on the
// Graph is the part of one sample, and the batch remains as a mark on its axis, for the operators
// to come.
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
  /// With the batch, the axis has before * N * (size / before) entries in this order of
  /// significance.
  std::int64_t before = 1;

  bool operator==(const Axis&) const = default;
};

using Axes = std::vector<Axis>;

/// The batch alone.
inline constexpr Axis kBatchAxis = {.size = 1, .has_batch = true};

/// Entries for one sample; 1 for a scalar, the largest number there is for more than that.
std::int64_t size_of(const Axes& axes);

/// The axis that N is a factor of, -1 if there is none.
int batch_axis(const Axes& axes);

/// "(N, 3, 2 N 4)", for messages.
std::string text(const Axes& axes);

/// Axes without the batch.
Axes plain_axes(const std::vector<std::int64_t>& shape);

/// Sizes for one sample.
std::vector<std::int64_t> sizes_of(const Axes& axes);

/// Whole numbers or truth values that are known, as shapes are: entry e is base[e] + per_sample[e]
/// N.
struct Integers {
  std::vector<std::int64_t> base;
  std::vector<std::int64_t> per_sample = {};  ///< empty: all 0

  bool depends_on_batch() const;

  std::int64_t slope(std::size_t e) const { return per_sample.empty() ? 0 : per_sample[e]; }
};

/// What integers that count samples have beside their value for one of them (sample_numbers.h).
struct SampleNumbers {
  std::vector<std::int64_t> steps;  ///< entry e of sample n is steps[e] n more
  /// What data tell is to be multiplied by N first, as the position in front of the batch is.
  bool is_times_batch = false;
};

/// What is taken over the batch, which stands for what it is of in one sample
/// (internal/batch_totals.h).
struct BatchTotal {
  enum class Kind {
    kMean,
    kSum,
    kCount,  ///< the number of samples, as a real number
  };

  Kind kind = Kind::kMean;
  std::string place;  ///< the node that takes it

  const char* name() const { return kind == Kind::kMean ? "mean" : "sum"; }
};

/// A tensor of the imported graph: known integers, or numbers on the Graph (constants among them).
/// Or a sequence of tensors.
struct Value {
  ElementKind kind = ElementKind::kReal;
  Axes axes;
  std::optional<Var> var = {};  ///< of size_of(axes) entries, row by row, in any shape
  std::shared_ptr<const Integers> integers = {};
  bool is_single = false;  ///< the graph says 32 bits; entries have 64 all the same
  std::shared_ptr<const std::vector<Value>> tensors = {};  ///< of a sequence, which has no axes
  /// Of integers that count samples; null: none.
  std::shared_ptr<const SampleNumbers> sample_numbers = {};
  /// Of a total over the batch; else null.
  std::shared_ptr<const BatchTotal> batch_total = {};

  bool counts_samples() const { return sample_numbers != nullptr; }

  bool is_sequence() const { return tensors != nullptr; }

  bool is_known() const { return integers != nullptr; }

  /// The one integer or truth value of a tensor of one, if it is known and the same for any number
  /// of samples.
  std::optional<std::int64_t> single_integer() const;

  int rank() const { return static_cast<int>(axes.size()); }

  std::int64_t size() const { return size_of(axes); }
};

/// The nearest number of 32 bits.
inline double as_single(double x) { return static_cast<double>(static_cast<float>(x)); }

}  // namespace hesscope::onnx
