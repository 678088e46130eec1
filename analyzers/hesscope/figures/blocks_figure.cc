// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/figures/internal/block_map.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/figures/internal/figures.h>

namespace hesscope::figures {
namespace {

const char* const kBlocks = "blocks";

plot::Figure draw_blocks(std::span<const Source> sources, const FigureRequest& request) {
  const io::ResultReader& result = *sources[0].result;
  const BlockQuantity& quantity = request.quantity.empty() ? block_quantities().front()
                                                           : *find_block_quantity(request.quantity);
  const Checkpoints checkpoints = read_checkpoints(sources[0]);
  const std::size_t checkpoint = chosen_checkpoint(sources[0], checkpoints, request);
  const std::vector<std::string> names = result.read_text("", "parameter_name");
  const Variable rows = read_numbers(result, kBlocks, quantity.name, 3);
  if (rows.shape != std::vector<std::uint64_t>{checkpoints.size(), names.size(), names.size()}) {
    refuse_blocks(result.path(), quantity.name);
  }
  const BlockMapSize size = block_map_size(names);
  return {
      .title = {},
      .description = quantity.description,
      .panels = {block_map(names, rows.row(checkpoint), quantity, checkpoints.name_of(checkpoint))},
      .width = size.width(),
      .height = size.height()};
}

std::vector<std::string> quantity_names() {
  std::vector<std::string> names;
  for (const BlockQuantity& quantity : block_quantities()) names.emplace_back(quantity.name);
  return names;
}

}  // namespace

FigureKind blocks_figure() {
  return {.name = "blocks",
          .topic = Topic::kBlocks,
          .summary =
              "norms of the Hessian's blocks at a checkpoint, or distances between their spectra",
          .needs = {{"", "step"},
                    {"", "parameter_name"},
                    {kBlocks, "frobenius_norm"},
                    {kBlocks, "js_distance"}},
          .made_by = "analyzer blocks",
          .has_step = true,
          .quantities = quantity_names(),
          .quantity_group = kBlocks,
          .draw = draw_blocks};
}

}  // namespace hesscope::figures
