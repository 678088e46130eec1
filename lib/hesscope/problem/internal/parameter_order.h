// SPDX-License-Identifier: BSD-3-Clause
//
// Which of an optimiser's numbered parameters is which of the model's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hesscope::detail {

/// A parameter as the checkpoint lists it.
struct ListedParameter {
  std::string name;                 ///< as the file has it
  std::size_t block = 0;            ///< in the model's order
  std::vector<std::int64_t> shape;  ///< as the optimiser would have it
};

/// A parameter as the optimiser numbers it.
struct NumberedParameter {
  std::size_t group = 0;
  std::optional<std::vector<std::int64_t>> shape;  ///< where something of its shape is kept
};

struct ParameterOrder {
  std::vector<std::size_t> blocks = {};  ///< the model's block of each numbered parameter; or
  std::string obstacle = {};             ///< why it is not known
  std::string warning = {};              ///< what was assumed
  bool is_open = false;                  ///< several orders fit: the obstacle
};

/// Why an optimiser of so many parameters is not the model's.
std::string text_of_other_number(std::size_t theirs, std::size_t ours);

/// Optimisers number parameters as they were handed to them: group by group and, as a rule, within
/// each group in the order of model.parameters(), which is that of a state_dict(). Shapes must
/// agree with that. Where they leave one assignment only, that is it. Otherwise the order of the
/// checkpoint is taken, unless the names stand there in alphabetical order while the model's own
/// differs: a state_dict that was sorted before it was saved. Then the model's is taken if it fits,
/// with a warning; nothing in the file can tell. But names may stand in alphabetical order in a
/// module, too: where the checkpoint's format keeps that order and the names ("fc1", "fc2") do not
/// betray a sorting ("layers.10" in front of "layers.2"), either order may be meant: it is open.
/// @param listed       in the order of the checkpoint.
/// @param numbered     in the order of the optimiser's groups.
/// @param keeps_order  whether a checkpoint of this format is as its module was.
ParameterOrder order_parameters(const std::vector<ListedParameter>& listed,
                                const std::vector<NumberedParameter>& numbered,
                                bool keeps_order = false);

}  // namespace hesscope::detail
