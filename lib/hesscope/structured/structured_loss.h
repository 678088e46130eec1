// SPDX-License-Identifier: BSD-3-Clause
//
// A model-specific computation of loss and gradient, faster than the generic sweep because it
// exploits the model's structure. The generic engine remains its definition and its test.
#pragma once

#include <memory>
#include <span>

#include <hesscope/autodiff/sweep.h>
#include <hesscope/core/eigen.h>

namespace hesscope {

/// Sums of a model's loss and its gradient over samples. First, samples are condensed to what the
/// loss depends on, once for all points; several samples lie side by side in a pack. Immutable;
/// safe to call concurrently.
class StructuredLoss {
 public:
  /// Condensed samples: ceil(count / pack_samples()) packs, one after the other, aligned to 64
  /// bytes.
  struct Packs {
    const double* data = nullptr;
    Eigen::Index count = 0;  ///< samples; the padding of the last pack is finite if they are
  };

  /// The loss at one point. Must not outlive the StructuredLoss that made it.
  class Point {
   public:
    virtual ~Point() = default;

    /// Sum of the losses. @param scratch  scratch_size() doubles aligned to 64 bytes.
    virtual double value(Packs packs, double* scratch) const = 0;

    /// Returns the same as value(), to the last bit, and adds num_sums() numbers to `sums`, from
    /// which gradient() computes the gradient.
    virtual double value_and_gradient(Packs packs,
                                      double* scratch,
                                      std::span<double> sums) const = 0;

    /// The gradient of the sum of the losses. `sums` may be accumulated over many calls.
    virtual void gradient(std::span<const double> sums, std::span<double> gradient) const = 0;
  };

  virtual ~StructuredLoss() = default;

  virtual Eigen::Index pack_samples() const = 0;
  virtual Eigen::Index pack_size() const = 0;  ///< doubles, a multiple of 8 or of pack_samples()
  virtual Eigen::Index scratch_size() const = 0;
  virtual Eigen::Index num_sums() const = 0;

  /// Condenses the records, of which there must be at least one. `packs` and `scratch`
  /// (scratch_size() doubles) are aligned to 64 bytes. A sample's condensed form does not depend on
  /// its neighbours; unused lanes of the last pack repeat the last sample.
  virtual void condense(Records records, double* packs, double* scratch) const = 0;

  virtual std::unique_ptr<Point> at(std::span<const double> theta) const = 0;
};

}  // namespace hesscope
