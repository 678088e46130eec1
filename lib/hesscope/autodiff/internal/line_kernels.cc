// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/autodiff/internal/lane_tape.h>
#include <hesscope/autodiff/internal/line_jet.h>
#include <hesscope/autodiff/internal/line_kernels.h>
#include <hesscope/simd/internal/lane.h>

namespace hesscope::HESSCOPE_ISA {
namespace {

class LaneLineSweep final : public LineSweep {
 public:
  // A number takes 1 + kOrder kMaxLines registers.
  using Base = detail::Lanes<kLanes, kSet>;
  using Jet = detail::LineJet<Base, kMaxLines>;
  using Tape = detail::LaneTape<kLanes, kSet, Jet>;
  static_assert(Jet::kOrder == kOrder);

  /// Memory of one sweep.
  static double bytes(const Graph& graph) {
    return detail::num_entries(graph) * Tape::kForwardBytesPerEntry;
  }

  explicit LaneLineSweep(const Graph& graph)
      : tape_(graph), plan_(detail::plan_sweep(graph, 0, graph.num_parameters(), 0)) {}

  void line_derivatives(std::span<const double> theta,
                        Records records,
                        std::span<const double> directions,
                        int num_lines,
                        std::span<double> out) override {
    // p!
    constexpr double kFactorial[] = {1, 1, 2, 6, 24};
    tape_.set_theta(theta);
    tape_.seed(plan_, [&](Eigen::Index j, const Base& value) {
      Jet jet(value);
      for (int k = 0; k < num_lines; ++k) {
        jet.c[0][k] = Base(directions[static_cast<std::size_t>(j * num_lines + k)]);
      }
      return jet;
    });
    tape_.for_each_pack(records, [&](Eigen::Index /*first*/, int count) {
      tape_.forward_jets(plan_);
      const Jet loss = tape_.output_jet(plan_);
      for (int k = 0; k < num_lines; ++k) {
        double* column = out.data() + k;
        column[0] += Tape::sum_of(loss.a, count);
        for (int p = 1; p <= kOrder; ++p) {
          column[p * num_lines] += kFactorial[p] * Tape::sum_of(loss.c[p - 1][k], count);
        }
      }
    });
  }

 private:
  Tape tape_;
  detail::SweepPlan plan_;
};

constexpr detail::LineKernels kLineKernels = {
    .create = [](const Graph& graph) -> std::unique_ptr<LineSweep> {
      return std::make_unique<LaneLineSweep>(graph);
    },
    .bytes = LaneLineSweep::bytes,
};

}  // namespace

const detail::LineKernels& line_kernels() { return kLineKernels; }

}  // namespace hesscope::HESSCOPE_ISA
