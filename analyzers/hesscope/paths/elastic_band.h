// SPDX-License-Identifier: BSD-3-Clause
//
// Minimum-energy paths: from one minimum to another so that the loss falls on both sides of its
// highest points, and nowhere across the path.
//
//   ElasticBand band(objective, {.num_images = 17});
//   BandState state = band.straight(first, second);
//   while (!state.is_done() && state.num_steps < 2000) band.advance(state, 100);
//
// A path theta(s) is one of minimum energy where the gradient has no part across it,
//   g - (g . tau) tau = 0,   tau its tangent;
// its highest point is a saddle of index 1 where the path crosses from one basin to the next, the
// lowest pass near the path that it was begun from. An elastic band is that path as images theta_0,
// ..., theta_M with fixed ends and the forces
//   F_i = -g_i + (g_i . tau_i) tau_i + k (|theta_i+1 - theta_i| - |theta_i - theta_i-1|) tau_i:
// exact gradients across the band, springs along it, so that neither pulls against the other; only
// at kinks do springs pull across it, too, by the share (1 + cos(pi cos phi)) / 2 of the angle phi
// between its pieces, which is of fourth order where the band is smooth (Jonsson et al.). Tangents
// point to the neighbour that is higher, and at extremes between both. The highest image, once the
// band is near rest, climbs instead, -g + 2 (g . tau) tau, and so comes to rest on the pass itself.
// It goes on to climb until another is clearly higher: of two on both sides of a pass now one is
// the higher and now the other, and a band that changed with that would never come to rest.
//
// The band moves by FIRE: molecular dynamics whose velocities turn towards the forces, and stop
// where they would go uphill. Its time step is in units of the stiffest oscillation, by the largest
// curvature that power iteration finds at the ends and half way.
//
// Tangents are differences, so images lie on the path up to the first order of their distances; the
// image that climbs needs no tangent to be where it is.
//
// Sources: H. Jonsson, G. Mills & K. Jacobsen (1998), Nudged elastic band method, in Classical and
// Quantum Dynamics in Condensed Phase Simulations, World Scientific, 385-404; G. Henkelman & H.
// Jonsson (2000), J. Chem. Phys. 113, 9978-9985 (tangents); G. Henkelman, B. Uberuaga & H. Jonsson
// (2000), ibid. 9901-9904 (climbing); E. Bitzek et al. (2006), Phys. Rev. Lett. 97, 170201 (FIRE);
// W. E, W. Ren & E. Vanden-Eijnden (2007), J. Chem. Phys. 126, 164103 (the string method, with the
// same fixed points); F. Draxler et al. (2018), arXiv 1803.00885, and T. Garipov et al. (2018),
// arXiv 1802.10026, for networks.
#pragma once

#include <cstdint>
#include <optional>

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/progress.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

enum class BandOutcome {
  kMoving,     ///< not at rest yet
  kConverged,  ///< at rest: the largest force across is at most the tolerance
  kNonFinite,  ///< a loss or a gradient on it is not finite
};

/// "moving", "converged", "non_finite", in their order.
inline constexpr const char* kBandOutcomes[] = {"moving", "converged", "non_finite"};

/// All that the next step depends on.
struct BandState {
  Eigen::MatrixXd images;      ///< n x number of images; the first and the last are the ends
  Eigen::MatrixXd velocities;  ///< as many; 0 at the ends
  Eigen::VectorXd losses;      ///< of the images
  double curvature = kNaN;  ///< the largest |eigenvalue| of H that was found: the unit of springs
  /// Largest force across of the path that it was begun from; along it where the highest image
  /// begins to climb, if that is larger, up to curvature x length.
  double first_force = kNaN;
  double force = kNaN;  ///< the same now, of the climbing image all of it
  double time_step = 0;
  double mixing = 0;              ///< share of the velocities that is turned towards the forces
  std::int64_t num_downhill = 0;  ///< steps since the velocities last went against the forces
  std::int64_t num_steps = 0;
  Eigen::Index climbing = -1;        ///< the image that climbs; -1 for none
  std::int64_t num_vain_climbs = 0;  ///< climbs that were given up
  BandOutcome outcome = BandOutcome::kMoving;

  bool is_done() const { return outcome != BandOutcome::kMoving; }

  /// Lengths of the band from its first end to each image, by straight pieces.
  Eigen::VectorXd arc_lengths() const;

  /// Whether it is higher than those of both ends beyond rounding, 1e-14 of both losses.
  bool is_above_ends(double loss) const;

  /// The highest image, where it is above the ends.
  std::optional<Eigen::Index> highest() const;
};

class ElasticBand {
 public:
  struct Options {
    Eigen::Index num_images = 17;  ///< with the ends; at least 3
    double tolerance = 1e-3;       ///< of the force at rest, relative to the first; above 0
    /// The highest image begins to climb when the force is below this many times that at rest, and
    /// stops where that of the straight path is exceeded: there may be no pass to climb to, and no
    /// end to it. After 50 climbs in vain it climbs no more, and the band is at rest where no force
    /// is left across it.
    double climbs_from = 10;
    int num_threads = 0;    ///< images at a time; as of Executor. No result depends on it.
    StopRequest stop = {};  ///< as of Executor
  };

  /// `objective` must outlive this. @throws PreconditionError for options out of their ranges.
  ElasticBand(const Objective& objective, const Options& options);
  ElasticBand(const Objective&& objective, const Options& options) = delete;

  /// The straight path, not moving. Where the ends are nearer than 1e-8 of their norm it has come
  /// to rest already: between copies of one network there is no way to go, and images that are held
  /// by no ends would slide off. @throws PreconditionError for ends of other sizes.
  /// @cost   60 Hessian-vector products and a gradient for each image.
  BandState straight(const Eigen::Ref<const Eigen::VectorXd>& first,
                     const Eigen::Ref<const Eigen::VectorXd>& second) const;

  /// At most so many steps further; fewer where the band comes to rest. Ten steps and ten more are
  /// the same to the last bit as twenty.
  /// @cost   a gradient for each image between the ends a step.
  void advance(BandState& state,
               std::int64_t num_steps,
               const ProgressCallback& progress = {}) const;

  /// Unit tangents of the images, n x number of images; at the ends along the first and last piece.
  static Eigen::MatrixXd tangents(const BandState& state);

 private:
  struct Forces {
    Eigen::MatrixXd forces;  // with springs
    double largest = 0;      // of those across
    double of_highest = 0;   // the whole of the highest image
    bool is_finite = true;
  };

  double largest_curvature(const Eigen::VectorXd& theta) const;
  Forces forces(BandState& state) const;
  void settle(BandState& state, const Forces& now) const;

  const Objective& objective_;
  Options options_;
  Executor executor_;
};

}  // namespace hesscope
