// SPDX-License-Identifier: BSD-3-Clause
//
// Minimum-energy paths: paths from one minimum to another on which the loss falls on both sides of
// the highest points, and nowhere across the path.
//
//   ElasticBand band(objective, {.num_images = 17});
//   BandState state = band.straight(first, second);
//   while (!state.is_done() && state.num_steps < 2000) band.advance(state, 100);
//
// A path theta(s) has minimum energy if the gradient has no component across it,
//   g - (g . tau) tau = 0,   tau its tangent.
// Its highest point is a saddle of index 1 where the path crosses from one basin to the next: the
// lowest pass near the initial path. An elastic band is that path as images theta_0, ..., theta_M
// with fixed ends and the forces
//   F_i = -g_i + (g_i . tau_i) tau_i + k (|theta_i+1 - theta_i| - |theta_i - theta_i-1|) tau_i:
// exact gradients across the band and springs along it, so that neither disturbs the other. Only at
// kinks do springs also pull across it, with the weight (1 + cos(pi cos phi)) / 2 for the angle phi
// between its pieces, which is of fourth order where the band is smooth (Jonsson et al.). Tangents
// point to the higher neighbour; at extremes, they are a mean of both. Once the band is near rest,
// the highest image climbs instead, -g + 2 (g . tau) tau, and so comes to rest on the pass itself.
// It keeps climbing until another image is clearly higher: of two images on both sides of a pass,
// the higher one may change, and a band that followed each change would never come to rest.
//
// The band moves by FIRE: molecular dynamics in which velocities turn towards the forces, and are
// set to zero when they would go uphill. Its time step is in units of the stiffest oscillation, by
// the largest curvature that power iteration finds at the ends and halfway.
//
// Tangents are differences, so images lie on the path to first order in their distances; the
// climbing image needs no tangent to be at the right place.
//
// Sources: H. Jonsson, G. Mills & K. Jacobsen (1998), Nudged elastic band method, in Classical and
// Quantum Dynamics in Condensed Phase Simulations, World Scientific, 385-404; G. Henkelman & H.
// Jonsson (2000), J. Chem. Phys. 113, 9978-9985 (tangents); G. Henkelman, B. Uberuaga & H. Jonsson
// (2000), ibid. 9901-9904 (climbing); E. Bitzek et al. (2006), Phys. Rev. Lett. 97, 170201 (FIRE);
// W. E, W. Ren & E. Vanden-Eijnden (2007), J. Chem. Phys. 126, 164103 (the string method, with the
// same fixed points); F. Draxler et al. (2018), arXiv 1803.00885, and T. Garipov et al. (2018),
// arXiv 1802.10026, for networks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <hesscope/core/constants.h>
#include <hesscope/core/eigen.h>
#include <hesscope/core/executor.h>
#include <hesscope/core/progress.h>
#include <hesscope/objective/objective.h>

namespace hesscope {

enum class BandOutcome {
  kMoving,     ///< not at rest yet
  kConverged,  ///< at rest: the largest force across the band is at most the tolerance
  kNonFinite,  ///< a loss or a gradient on the band is not finite
};

/// In the order of the enumerators.
inline constexpr std::array<std::string_view, 3> kBandOutcomes = {
    "moving", "converged", "non_finite"};
static_assert(kBandOutcomes.size() == static_cast<std::size_t>(BandOutcome::kNonFinite) + 1);

/// Everything that the next step depends on.
struct BandState {
  Eigen::MatrixXd images;      ///< n x number of images; the first and the last are the ends
  Eigen::MatrixXd velocities;  ///< one for each image; 0 at the ends
  Eigen::VectorXd losses;      ///< of the images
  double curvature = kNaN;     ///< largest |eigenvalue| of H found: the unit of springs
  /// Largest force across the initial path; when the highest image begins to climb, the force on it
  /// if that is larger, up to curvature x length.
  double first_force = kNaN;
  double force = kNaN;  ///< the same now, of the climbing image all of it
  double time_step = 0;
  double mixing = 0;              ///< the part of the velocities that is turned towards the forces
  std::int64_t num_downhill = 0;  ///< steps since the velocities last opposed the forces
  std::int64_t num_steps = 0;
  Eigen::Index climbing = -1;        ///< the image that climbs; -1 for none
  std::int64_t num_vain_climbs = 0;  ///< climbs that were abandoned
  BandOutcome outcome = BandOutcome::kMoving;

  bool is_done() const { return outcome != BandOutcome::kMoving; }

  /// Lengths of the band from its first end to each image, along straight pieces.
  Eigen::VectorXd arc_lengths() const;

  /// Whether the loss is higher than those of both ends beyond rounding, 1e-14 of both losses.
  bool is_above_ends(double loss) const;

  /// The highest image, if it is above the ends.
  std::optional<Eigen::Index> highest() const;
};

class ElasticBand {
 public:
  struct Options {
    Eigen::Index num_images = 17;  ///< including the ends; at least 3
    double tolerance = 1e-3;       ///< largest force at rest, relative to the first; above 0
    /// The highest image begins to climb when the force is below this multiple of the force at
    /// rest. It stops when the force exceeds that of the straight path: there may be no pass to
    /// climb to, and the climb would never end. After 50 climbs in vain no image climbs any more,
    /// and the band is at rest when no force across it is left.
    double climbs_from = 10;
    int num_threads = 0;    ///< images at a time; as in Executor. No result depends on it.
    StopRequest stop = {};  ///< as in Executor
  };

  /// `objective` must outlive this. @throws PreconditionError for options out of range.
  ElasticBand(const Objective& objective, const Options& options);
  ElasticBand(const Objective&& objective, const Options& options) = delete;

  /// The straight path, at zero velocity. If the ends are closer than 1e-8 of their norm, it is
  /// already at rest: between copies of one network there is no path to find, and images would
  /// slide off because the ends do not hold them. @throws PreconditionError for ends of other
  /// sizes.
  /// @cost   60 Hessian-vector products, and a gradient for each image.
  BandState straight(const Eigen::Ref<const Eigen::VectorXd>& first,
                     const Eigen::Ref<const Eigen::VectorXd>& second) const;

  /// Advances by at most that many steps; fewer if the band comes to rest. Ten steps and ten more
  /// give the same bits as twenty.
  /// @cost   per step, a gradient for each image between the ends.
  void advance(BandState& state,
               std::int64_t num_steps,
               const ProgressCallback& progress = {}) const;

  /// Unit tangents of the images, n x number of images; at the ends, along the first and last
  /// piece.
  static Eigen::MatrixXd tangents(const BandState& state);

 private:
  struct Forces {
    Eigen::MatrixXd forces;  // with springs
    double largest = 0;      // largest force across the band
    double of_highest = 0;   // total force on the highest image
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
