// SPDX-License-Identifier: BSD-3-Clause
//
// Matches an optimiser's numbered parameters with those of the model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hesscope::detail {

/// A parameter as listed in the checkpoint.
struct ListedParameter {
  std::string name;                 ///< as the file has it
  std::size_t block = 0;            ///< in the model's order
  std::vector<std::int64_t> shape;  ///< as the optimiser would have it
};

/// A parameter as numbered by the optimiser.
struct NumberedParameter {
  std::size_t group = 0;
  std::optional<std::vector<std::int64_t>> shape;  ///< if something of its shape is kept
};

struct ParameterOrder {
  std::vector<std::size_t> blocks = {};  ///< the model's block of each numbered parameter; or
  std::string obstacle = {};             ///< why it is not known
  std::string warning = {};              ///< what was assumed
  bool is_open = false;                  ///< several orders fit: the obstacle
};

/// Why an optimiser with this number of parameters does not belong to the model.
std::string text_of_other_number(std::size_t theirs, std::size_t ours);

/// Optimisers number parameters in the order in which they received them: group by group and, as a
/// rule, within each group in the order of model.parameters(), which is that of a state_dict().
/// Shapes must agree with this. If they leave only one assignment, it is used. Otherwise the order
/// of the checkpoint is used, unless the names in it are in alphabetical order while the model's
/// own order differs: this is a state_dict that was sorted before it was saved. Then the model's
/// order is used if it fits, with a warning, since nothing in the file can confirm it. But names
/// may also be in alphabetical order in a module: if the checkpoint's format keeps that order and
/// the names ("fc1", "fc2") show no sign of sorting ("layers.10" before "layers.2"), either order
/// is possible, and the question remains open.
/// @param listed       in the order of the checkpoint.
/// @param numbered     in the order of the optimiser's groups.
/// @param keeps_order  whether checkpoints of this format keep the order of their module.
ParameterOrder order_parameters(const std::vector<ListedParameter>& listed,
                                const std::vector<NumberedParameter>& numbered,
                                bool keeps_order = false);

}  // namespace hesscope::detail
