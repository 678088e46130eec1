// SPDX-License-Identifier: BSD-3-Clause
//
// A model's own way to its loss and gradient, faster than the generic sweep because it knows how
// the model is built. The generic engine stays its definition and its test.
#pragma once

#include <memory>
#include <span>

#include <hesscope/autodiff/sweep.h>
#include <hesscope/core/eigen.h>

namespace hesscope {

/// Sums of a model's loss and its gradient over samples. What the loss depends on in a sample is
/// first condensed, once for all points; several samples lie side by side in a pack. Immutable;
/// safe to call concurrently.
class StructuredLoss {
 public:
  /// Condensed samples: ceil(count / pack_samples()) packs one after the other, aligned to 64
  /// bytes.
  struct Packs {
    const double* data = nullptr;
    Eigen::Index count = 0;  ///< samples; what else the last pack holds is finite if they are
  };

  /// The loss at one point. Outlived by the StructuredLoss that made it.
  class Point {
   public:
    virtual ~Point() = default;

    /// Sum of the losses. @param scratch  scratch_size() doubles aligned to 64 bytes.
    virtual double value(Packs packs, double* scratch) const = 0;

    /// Returns what value() does, to the last bit, and adds num_sums() numbers to `sums`, of which
    /// gradient() makes the gradient.
    virtual double value_and_gradient(Packs packs,
                                      double* scratch,
                                      std::span<double> sums) const = 0;

    /// The gradient of the sum of the losses. `sums` may be those of many calls, added up.
    virtual void gradient(std::span<const double> sums, std::span<double> gradient) const = 0;
  };

  virtual ~StructuredLoss() = default;

  virtual Eigen::Index pack_samples() const = 0;
  virtual Eigen::Index pack_size() const = 0;  ///< doubles, a multiple of 8 or of pack_samples()
  virtual Eigen::Index scratch_size() const = 0;
  virtual Eigen::Index num_sums() const = 0;

  /// Condenses the records, at least one. `packs` and `scratch` (scratch_size() doubles) are
  /// aligned to 64 bytes. What a sample becomes does not depend on its neighbours, and lanes of the
  /// last pack without a sample repeat the last one.
  virtual void condense(Records records, double* packs, double* scratch) const = 0;

  virtual std::unique_ptr<Point> at(std::span<const double> theta) const = 0;
};

}  // namespace hesscope
