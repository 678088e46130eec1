// SPDX-License-Identifier: BSD-3-Clause
//
// Columns of H whose directions are parameters, while their tangents are at hand: nothing of them is
// kept. For each pack of samples
//   (dg[i,j])_d += sum_t (E[t,i])_d x[t,j] + delta[t,i] (J[t,j])_d
// lane by lane; lanes are added up where a chunk of samples ends.
#pragma once

#include <array>
#include <vector>

#include <hesscope/structured/internal/graph/curvature_products.h>

namespace hesscope::detail {

class DirectionProducts {
 public:
  DirectionProducts(const ParameterUses& uses,
                    const EntryNumbers& entries,
                    const GraphLayout& layout,
                    const DirectionPlanner& planner,
                    InstructionSet set);

  /// Doubles of sums for a block, aligned to 64 bytes.
  long sums_size() const { return sums_size_; }

  /// Adds those of a pack whose tangents have been swept.
  void add_pack(const DirectionBlock& block,
                PackPoint point,
                const double* tangents,
                const double* adjoint_tangents,
                double* sums) const;

  /// Adds the sums to H.
  void write(const DirectionBlock& block, const double* sums, HessianTarget h) const;

  /// Columns of the target that write() may write to, those of its directions first.
  std::vector<int> columns_of(const DirectionBlock& block) const;

 private:
  // Positions whose entries lie at fixed steps, in packs of a PackPoint and in entries of tangents.
  struct Run {
    int positions = 1;
    int first_unit = 0;
    int num_units = 1;
    int z_node = 0;
    int z_adjoint = 0;
    int z_tangent = 0;
    int z_unit_step = 0;
    int z_step = 0;
    int first_input = 0;
    int num_inputs = 1;
    int x_node = -1;
    int x_value = -1;    // -1 for ones
    int x_tangent = -1;  // -1 for what does not vary
    int x_input_step = 0;
    int x_unit_step = 0;  // of gains
    int x_step = 0;

    bool operator==(const Run&) const = default;
  };

  struct Product;

  struct Target {
    int use;
    ProductPart part;
    long first;  // of its sums, in packs: (i, d, j) at (i * kDirections + d) * inputs + j
  };

  void find_runs(const EntryNumbers& entries);
  Run run_at(const ParameterUse& use,
             const EntryNumbers& entries,
             int t,
             int first_unit,
             int first_input) const;
  static void append(const Run& run, std::vector<Run>& runs);
  void add(const Product& product) const;
  void add_adjoints(const ParameterUse& use,
                    const Run& run,
                    PackPoint point,
                    const double* tangents,
                    double* sums) const;
  void add_tangents(const ParameterUse& use,
                    const Run& run,
                    PackPoint point,
                    const double* tangents,
                    double* sums) const;

  const ParameterUses& uses_;
  const GraphLayout& layout_;
  const DirectionPlanner& planner_;
  const TangentKernels& kernels_;
  std::vector<std::vector<Run>> runs_;        // of each use
  std::vector<std::vector<Target>> targets_;  // of each group
  alignas(64) std::array<double, kPackSamples> ones_;
  long sums_size_ = 0;
};

}  // namespace hesscope::detail
