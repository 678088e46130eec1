// SPDX-License-Identifier: BSD-3-Clause
//
// The layout of a path's result file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <hesscope/analysis/internal/checkpoint_result.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/paths/internal/path_inputs.h>
#include <hesscope/paths/path.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

/// The number of positions on the straight paths: four for each piece of the band.
inline Eigen::Index num_places(const PathRequest& request) {
  return 4 * (request.num_images - 1) + 1;
}

class PathFile : public CheckpointResult {
 public:
  /// Declares everything and names the checkpoints. @throws OutputError.
  PathFile(const PathRequest& request,
           const PathInputs& inputs,
           const io::RunConfiguration& configuration);

  /// Writes the record of one image.
  void write_image(std::size_t image, const Group& record);

  /// Writes the values of variables of the group other than those of single images.
  void write_path(const Group& record);

  /// Stores the names of the maps that an alignment may use.
  void name_maps(const std::vector<std::string>& families);
};

}  // namespace hesscope::detail
