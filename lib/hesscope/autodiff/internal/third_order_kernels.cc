// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/autodiff/internal/lane_tape.h>
#include <hesscope/autodiff/internal/pair_jet.h>
#include <hesscope/autodiff/internal/third_order_kernels.h>
#include <hesscope/simd/internal/lane.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

class LaneThirdOrderSweep final : public ThirdOrderSweep {
 public:
  // A number takes 1 + 3 kMaxPairs registers.
  static constexpr int kSweepLanes = kLanes;
  using Base = detail::Lanes<kSweepLanes, kSet>;
  using Jet = detail::PairJet<Base, kMaxPairs>;
  using Tape = detail::LaneTape<kSweepLanes, kSet, Jet>;

  /// Memory of one sweep.
  static double bytes(const Graph& graph) {
    return detail::num_entries(graph) * Tape::kBytesPerEntry;
  }

  explicit LaneThirdOrderSweep(const Graph& graph)
      : tape_(graph), plan_(detail::plan_sweep(graph, 0, graph.num_parameters(), 0)) {}

  void third_derivative_times(std::span<const double> theta,
                              Records records,
                              const Pairs& pairs,
                              std::span<double> out) override {
    tape_.set_theta(theta);
    tape_.seed(plan_, [&](Eigen::Index j, const Base& value) {
      Jet jet(value);
      for (int k = 0; k < pairs.num_pairs; ++k) {
        const auto entry = static_cast<std::size_t>(j * pairs.num_pairs + k);
        jet.u[k] = Base(pairs.u[entry]);
        jet.v[k] = Base(pairs.v[entry]);
      }
      return jet;
    });
    tape_.for_each_pack(records, [&](Eigen::Index /*first*/, int count) {
      tape_.forward_jets(plan_);
      tape_.reverse_jets(plan_, Base(1.0));
      tape_.visit_adjoint_jets(0, [&](Eigen::Index j, const Jet& adjoint) {
        double* row = out.data() + j * pairs.num_pairs;
        for (int k = 0; k < pairs.num_pairs; ++k) row[k] += Tape::sum_of(adjoint.w[k], count);
      });
    });
  }

 private:
  Tape tape_;
  detail::SweepPlan plan_;
};

constexpr detail::ThirdOrderKernels kThirdOrderKernels = {
    .create = [](const Graph& graph) -> std::unique_ptr<ThirdOrderSweep> {
      return std::make_unique<LaneThirdOrderSweep>(graph);
    },
    .bytes = LaneThirdOrderSweep::bytes,
};

}  // namespace

const detail::ThirdOrderKernels& third_order_kernels() { return kThirdOrderKernels; }

}  // namespace hesscope::HESSCOPE_ISA
