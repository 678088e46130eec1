// SPDX-License-Identifier: BSD-3-Clause
//
// What a checkpoint holds of a model apart from its parameters: constants of the graph, such as the
// running statistics of batch normalisation, which may differ between checkpoints.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <hesscope/core/eigen.h>
#include <hesscope/models/model.h>
#include <hesscope/models/tensor_shapes.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope {

/// Buffers of one checkpoint: those that it has and, if the model defines them, the defaults of
/// those that it lacks.
struct CheckpointBuffers {
  std::string source;  ///< TensorFile::where(), for messages
  std::string format;
  std::map<std::string, std::vector<double>> values;  ///< by name, row-major
};

/// The buffers of a checkpoint that fits the model; nullptr if the model needs no change for the
/// checkpoint, because it has no buffers or all of them have exactly the values it was built with.
/// @throws InputError for a tensor that cannot be read.
std::shared_ptr<const CheckpointBuffers> buffers_of(const Model& model,
                                                    const io::TensorFile& checkpoint);

/// A checkpoint with these parameters and buffers, as its file would present them to
/// ModelKind::build.
TensorShapes as_checkpoint(const Model& model,
                           const Eigen::VectorXd& theta,
                           const CheckpointBuffers& buffers);

/// Whether some buffer differs between `a` and `b`, where nullptr stands for the model's own
/// buffers. A buffer that a checkpoint lacks does not count as different.
bool are_other_buffers(const Model& model, const CheckpointBuffers* a, const CheckpointBuffers* b);

/// Whether two models have the same buffers, to the last bit.
bool have_equal_buffers(const Model& a, const Model& b);

}  // namespace hesscope
