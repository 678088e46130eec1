// SPDX-License-Identifier: BSD-3-Clause
//
// A Sweep whose tapes hold several samples in the lanes of vector registers. Compiled once for each
// instruction set (sweep_kernels.cc): all templates instantiated here have a type in their name
// that carries the set.
//
// How a second-order sweep is seeded for the columns c .. c+7 of H. Each number consists of W
// lanes, one for each sample of a pack; parameters are the same in all lanes, records are not.
//
//                                 value     v[0] v[1]  ..  v[7]
//
//    tensors before that of c    theta_j                              inactive: values only
//
//    the tensors of c .. c+7     theta_j      0    0        0         active: Jets
//                          c     theta_c      1    0        0
//                          c+1   theta_c+1    0    1        0
//                          :                             :
//                          c+7   theta_c+7    0    0        1
//                                theta_j      0    0        0
//
//    tensors after               theta_j                              inactive: values only
//
// Nodes that depend on an active tensor carry Jets forwards. Backwards, the adjoint of theta_i is
//
//    i >= c                        g_i      H_i,c  H_i,c+1 .. H_i,c+7
//
// for each sample; v summed over the lanes is line i - c of the result. Rows above c follow from
// symmetry: tensors before that of c have no adjoint. With fewer than eight columns, the remaining
// v are 0. For H V all tensors are active, v holds the lines of V, and all rows are computed.
#pragma once

#include <algorithm>

#include <hesscope/autodiff/internal/batch_tape.h>
#include <hesscope/autodiff/internal/lane_tape.h>
#include <hesscope/autodiff/sweep.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

class LaneSweep final : public Sweep {
 public:
  // A number takes one register in a first-order sweep, and nine in a second-order sweep. Without
  // AVX-512 there are only 16: more lanes would spill them.
  static constexpr int kSecondLanes = kLanes == 8 ? 8 : 2;
  static constexpr int kDirections = Sweep::kMaxDirections;

  template <int W, int N>
  using JetTape = detail::LaneTape<W, kSet, ceres::Jet<detail::Lanes<W, kSet>, N>>;
  using FirstOrder = JetTape<kLanes, 1>;
  using SecondOrder = JetTape<kSecondLanes, kDirections>;

  /// Memory of one sweep.
  static double bytes(const Graph& graph) {
    return BatchTape::bytes(graph) +
           detail::num_entries(graph) * (FirstOrder::kBytesPerEntry + SecondOrder::kBytesPerEntry);
  }

  explicit LaneSweep(const Graph& graph)
      : graph_(&graph),
        batch_(graph),
        first_(graph),
        second_(graph),
        all_(detail::plan_sweep(graph, 0, graph.num_parameters(), 0)) {}

  double value(std::span<const double> theta, Records records) override {
    batch_.set_theta(theta);
    double total = 0;
    batch_.for_each_batch(records, [&](Eigen::Index /*first*/, Eigen::Index count) {
      batch_.forward(false);
      total += batch_.sum_of_outputs(count);
    });
    return total;
  }

  double value_and_gradient(std::span<const double> theta,
                            Records records,
                            std::span<double> gradient) override {
    batch_.set_theta(theta);
    batch_.clear_sums();
    double total = 0;
    batch_.for_each_batch(records, [&](Eigen::Index /*first*/, Eigen::Index count) {
      batch_.forward(true);
      batch_.reverse(count);
      total += batch_.sum_of_outputs(count);
    });
    batch_.add_gradient(gradient);
    return total;
  }

  void per_sample_gradients(std::span<const double> theta,
                            Records records,
                            std::span<double> gradients) override {
    first_.set_theta(theta);
    const Eigen::Index n = graph_->num_parameters();
    for (double& entry : gradients) entry = 0.0;
    first_.for_each_pack(records, [&](Eigen::Index first, int count) {
      first_.forward();
      first_.reverse(all_, FirstBase(1.0));
      first_.visit_adjoints([&](Eigen::Index j, const FirstBase& adjoint) {
        for (int lane = 0; lane < count; ++lane) {
          gradients[static_cast<std::size_t>((first + lane) * n + j)] += adjoint[lane];
        }
      });
    });
  }

  // Here the lanes of v[0] differ: each holds the direction of its own sample.
  void per_sample_hessian_times(std::span<const double> theta,
                                Records records,
                                std::span<const double> directions,
                                std::span<double> products) override {
    const Eigen::Index n = graph_->num_parameters();
    const detail::SweepPlan plan = detail::plan_sweep(*graph_, 0, n, 0, Curvature::kHessian);
    for (double& entry : products) entry = 0.0;
    first_.set_theta(theta);
    first_.for_each_pack(records, [&](Eigen::Index first, int count) {
      const auto at = [&](int lane, Eigen::Index j) {
        return static_cast<std::size_t>((first + lane) * n + j);
      };
      first_.seed(plan, [&](Eigen::Index j, const FirstBase& value) {
        typename FirstOrder::Jet jet(value);
        for (int lane = 0; lane < count; ++lane) jet.v[0].set(lane, directions[at(lane, j)]);
        return jet;
      });
      first_.forward_jets(plan);
      first_.reverse_jets(plan, FirstBase(1.0));
      first_.visit_adjoint_jets(0, [&](Eigen::Index j, const typename FirstOrder::Jet& adjoint) {
        for (int lane = 0; lane < count; ++lane) products[at(lane, j)] += adjoint.v[0][lane];
      });
    });
  }

  void predictions(std::span<const double> theta,
                   Records records,
                   std::span<double> predictions) override {
    detail::require_prediction(*graph_);
    const std::int32_t z = graph_->prediction();
    const Eigen::Index size = graph_->nodes()[static_cast<std::size_t>(z)].size();
    batch_.set_theta(theta);
    batch_.for_each_batch(records, [&](Eigen::Index first, Eigen::Index count) {
      batch_.forward(false);
      for (Eigen::Index sample = 0; sample < count; ++sample) {
        for (Eigen::Index k = 0; k < size; ++k) {
          predictions[static_cast<std::size_t>((first + sample) * size + k)] =
              batch_.value(z, k, sample);
        }
      }
    });
  }

  void curvature_columns(Curvature curvature,
                         std::span<const double> theta,
                         Records records,
                         Eigen::Index first_column,
                         int num_columns,
                         std::span<double> out) override {
    const detail::SweepPlan plan = detail::plan_sweep(
        *graph_, first_column, first_column + num_columns, first_column, curvature);
    const auto unit = [&](Eigen::Index j, int k) {
      return k < num_columns && j == first_column + k ? 1.0 : 0.0;
    };
    second_order(second_, theta, records, plan, unit, first_column, num_columns, out);
  }

  void curvature_times(Curvature curvature,
                       std::span<const double> theta,
                       Records records,
                       std::span<const double> directions,
                       int num_directions,
                       std::span<double> out) override {
    const detail::SweepPlan plan =
        detail::plan_sweep(*graph_, 0, graph_->num_parameters(), 0, curvature);
    const auto entry = [&](Eigen::Index j, int k) {
      return k < num_directions ? directions[static_cast<std::size_t>(j * num_directions + k)]
                                : 0.0;
    };
    if (num_directions == 1) {
      second_order(first_, theta, records, plan, entry, 0, num_directions, out);
    } else {
      second_order(second_, theta, records, plan, entry, 0, num_directions, out);
    }
  }

  void gauss_newton_factors(std::span<const double> theta,
                            Records records,
                            GaussNewtonFactors out) override {
    const detail::SweepPlan loss = detail::plan_loss(*graph_);
    const Eigen::Index n = graph_->num_parameters();
    const Eigen::Index m = graph_->nodes()[static_cast<std::size_t>(graph_->prediction())].size();
    std::vector<FirstBase> curvature(static_cast<std::size_t>(m * m));  // L
    std::vector<FirstBase> jacobian(static_cast<std::size_t>(m * n));   // J, row-major
    std::vector<FirstBase> weighted(static_cast<std::size_t>(n));       // a row of L J
    for (double& entry : out.jacobian) entry = 0.0;
    for (double& entry : out.weighted) entry = 0.0;
    first_.set_theta(theta);
    first_.for_each_pack(records, [&](Eigen::Index first, int count) {
      first_.forward();
      std::fill(jacobian.begin(), jacobian.end(), FirstBase());
      for (Eigen::Index k = 0; k < m; ++k) {
        first_.visit_loss_hessian_column(loss, k, [&](Eigen::Index l, const FirstBase& entry) {
          curvature[static_cast<std::size_t>(k * m + l)] = entry;
        });
        first_.reverse_prediction(all_, k);
        first_.visit_adjoints([&](Eigen::Index j, const FirstBase& adjoint) {
          jacobian[static_cast<std::size_t>(k * n + j)] += adjoint;
        });
      }
      const auto write = [&](std::span<double> to, Eigen::Index k, const FirstBase* row) {
        const Eigen::Index pack = first / kPackSamples;
        double* lanes = to.data() + (pack * m + k) * n * kPackSamples + first % kPackSamples;
        for (Eigen::Index j = 0; j < n; ++j) {
          for (int lane = 0; lane < count; ++lane) lanes[j * kPackSamples + lane] = row[j][lane];
        }
      };
      for (Eigen::Index k = 0; k < m; ++k) {
        std::fill(weighted.begin(), weighted.end(), FirstBase());
        for (Eigen::Index l = 0; l < m; ++l) {
          const FirstBase& factor = curvature[static_cast<std::size_t>(k * m + l)];
          const FirstBase* row = jacobian.data() + l * n;
          for (Eigen::Index j = 0; j < n; ++j) {
            detail::multiply_add(weighted[static_cast<std::size_t>(j)], factor, row[j]);
          }
        }
        write(out.jacobian, k, jacobian.data() + k * n);
        write(out.weighted, k, weighted.data());
      }
    });
  }

 private:
  static_assert(kPackSamples % kLanes == 0);

  using FirstBase = typename FirstOrder::Base;

  // On a tape whose Jets have at least that many directions.
  template <typename T, typename F>
  static void second_order(T& tape,
                           std::span<const double> theta,
                           Records records,
                           const detail::SweepPlan& plan,
                           F direction,
                           Eigen::Index first_row,
                           int num_directions,
                           std::span<double> out) {
    using Jet = typename T::Jet;
    using Base = typename T::Base;
    tape.set_theta(theta);
    tape.seed(plan, [&](Eigen::Index j, const Base& value) {
      Jet jet(value);
      for (int k = 0; k < Jet::DIMENSION; ++k) jet.v[k] = Base(direction(j, k));
      return jet;
    });
    tape.for_each_pack(records, [&](Eigen::Index /*first*/, int count) {
      tape.forward_jets(plan);
      tape.reverse_jets(plan, Base(1.0));
      tape.visit_adjoint_jets(first_row, [&](Eigen::Index j, const Jet& adjoint) {
        double* row = out.data() + (j - first_row) * num_directions;
        for (int k = 0; k < num_directions; ++k) row[k] += T::sum_of(adjoint.v[k], count);
      });
    });
  }

  const Graph* graph_;
  BatchTape batch_;
  FirstOrder first_;  // by sample
  SecondOrder second_;
  detail::SweepPlan all_;
};

}  // namespace
}  // namespace hesscope::HESSCOPE_ISA
