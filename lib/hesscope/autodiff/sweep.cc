// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <hesscope/autodiff/sweep.h>
#include <hesscope/autodiff/tape.h>
#include <hesscope/core/error.h>

namespace hesscope {
namespace {

using detail::Lanes;
using detail::plan_sweep;
using detail::SweepPlan;

// W samples share a tape, one in each lane. A run that is no multiple of W is padded with copies of
// its last sample, whose lanes are not read.
template <int W, int N>
class LaneSweep final : public Sweep {
 public:
  using Base = Lanes<W>;
  using Tape = detail::Tape<Base, N>;

  static constexpr double kBytesPerEntry = Tape::kBytesPerEntry;

  explicit LaneSweep(const Graph& graph)
      : graph_(&graph), tape_(graph), all_(plan_sweep(graph, 0, graph.num_parameters(), 0)) {}

  double value(std::span<const double> theta, Records records) override {
    set_parameters(theta);
    double total = 0;
    for_each_pack(records, [&](Eigen::Index /*first*/, int count) {
      tape_.forward();
      for (int lane = 0; lane < count; ++lane) total += tape_.output()[lane];
    });
    return total;
  }

  double value_and_gradient(std::span<const double> theta,
                            Records records,
                            std::span<double> gradient) override {
    set_parameters(theta);
    double total = 0;
    for_each_pack(records, [&](Eigen::Index /*first*/, int count) {
      tape_.forward();
      tape_.reverse(all_, Base(1.0));
      for (int lane = 0; lane < count; ++lane) total += tape_.output()[lane];
      tape_.visit_adjoints([&](Eigen::Index j, const Base& adjoint) {
        gradient[static_cast<std::size_t>(j)] += sum_of(adjoint, count);
      });
    });
    return total;
  }

  void per_sample_gradients(std::span<const double> theta,
                            Records records,
                            std::span<double> gradients) override {
    set_parameters(theta);
    const Eigen::Index n = graph_->num_parameters();
    std::fill(gradients.begin(), gradients.end(), 0.0);
    for_each_pack(records, [&](Eigen::Index first, int count) {
      tape_.forward();
      tape_.reverse(all_, Base(1.0));
      tape_.visit_adjoints([&](Eigen::Index j, const Base& adjoint) {
        for (int lane = 0; lane < count; ++lane) {
          gradients[static_cast<std::size_t>((first + lane) * n + j)] += adjoint[lane];
        }
      });
    });
  }

  void hessian_columns(std::span<const double> theta,
                       Records records,
                       Eigen::Index first_column,
                       int num_columns,
                       std::span<double> out) override {
    const SweepPlan plan =
        plan_sweep(*graph_, first_column, first_column + num_columns, first_column);
    const auto unit = [&](Eigen::Index j, int k) {
      return k < num_columns && j == first_column + k ? 1.0 : 0.0;
    };
    second_order(theta, records, plan, unit, first_column, num_columns, out);
  }

  void hessian_times(std::span<const double> theta,
                     Records records,
                     std::span<const double> directions,
                     int num_directions,
                     std::span<double> out) override {
    const auto entry = [&](Eigen::Index j, int k) {
      return k < num_directions ? directions[static_cast<std::size_t>(j * num_directions + k)]
                                : 0.0;
    };
    second_order(theta, records, all_, entry, 0, num_directions, out);
  }

 private:
  template <typename F>
  void second_order(std::span<const double> theta,
                    Records records,
                    const SweepPlan& plan,
                    F direction,
                    Eigen::Index first_row,
                    int num_directions,
                    std::span<double> out) {
    set_parameters(theta);
    tape_.seed(plan, direction);
    for_each_pack(records, [&](Eigen::Index /*first*/, int count) {
      tape_.forward_jets(plan);
      tape_.reverse_jets(plan, Base(1.0));
      tape_.visit_adjoint_jets(first_row, [&](Eigen::Index j, const typename Tape::Jet& adjoint) {
        double* row = out.data() + (j - first_row) * num_directions;
        for (int k = 0; k < num_directions; ++k) row[k] += sum_of(adjoint.v[k], count);
      });
    });
  }

  void set_parameters(std::span<const double> theta) {
    tape_.set_parameters([&](Eigen::Index j) { return Base(theta[static_cast<std::size_t>(j)]); });
  }

  // body(first, count) for each run of up to W samples, with their records loaded.
  template <typename F>
  void for_each_pack(Records records, F body) {
    for (Eigen::Index first = 0; first < records.count; first += W) {
      const int count = static_cast<int>(std::min<Eigen::Index>(W, records.count - first));
      tape_.set_inputs([&](Eigen::Index entry) {
        Base packed;
        for (int lane = 0; lane < W; ++lane) {
          const Eigen::Index sample = first + std::min(lane, count - 1);
          packed.set(lane, records.data[sample * records.stride + entry]);
        }
        return packed;
      });
      body(first, count);
    }
  }

  // Over the first `count` lanes.
  static double sum_of(const Base& lanes, int count) {
    double total = 0;
    for (int lane = 0; lane < W; ++lane) {
      if (lane < count) total += lanes[lane];
    }
    return total;
  }

  const Graph* graph_;
  Tape tape_;
  SweepPlan all_;
};

// Two lanes fill a baseline x86-64 vector register; a Jet of 8 directions then occupies 9 of
// the 16.
using DefaultSweep = LaneSweep<2, Sweep::kMaxDirections>;

}  // namespace

std::unique_ptr<Sweep> Sweep::create(const Graph& graph) {
  if (graph.output() < 0) throw PreconditionError("Sweep: the graph has no output");
  return std::make_unique<DefaultSweep>(graph);
}

double Sweep::workspace_bytes(const Graph& graph) {
  double entries = 0;
  for (const Graph::Node& node : graph.nodes()) entries += static_cast<double>(node.size());
  return entries * DefaultSweep::kBytesPerEntry;
}

}  // namespace hesscope
