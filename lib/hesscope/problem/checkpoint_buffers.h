// SPDX-License-Identifier: BSD-3-Clause
//
// What a checkpoint holds of a model besides its parameters: constants of the graph, such as the
// running statistics of batch normalisation, that may be others at every checkpoint.
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

/// Buffers of one checkpoint: those that it has, and what holds for those that it lacks, where the
/// model says so.
struct CheckpointBuffers {
  std::string source;  ///< TensorFile::where(), for messages
  std::string format;
  std::map<std::string, std::vector<double>> values;  ///< by name, row-major
};

/// Those of a checkpoint that fits the model; nullptr where the model, as it is, is the
/// checkpoint's: it has no buffers, or all of them have the very values that it was built with.
/// @throws InputError for a tensor that cannot be read.
std::shared_ptr<const CheckpointBuffers> buffers_of(const Model& model,
                                                    const io::TensorFile& checkpoint);

/// A checkpoint of these parameters and buffers, as its file would show them to
/// ModelKind::build.
TensorShapes as_checkpoint(const Model& model,
                           const Eigen::VectorXd& theta,
                           const CheckpointBuffers& buffers);

/// Whether some buffer is another one in `a` than in `b`, where nullptr stands for the model's own.
/// What a checkpoint lacks is no other.
bool are_other_buffers(const Model& model, const CheckpointBuffers* a, const CheckpointBuffers* b);

/// Whether two models have the same buffers, to the last bit.
bool have_equal_buffers(const Model& a, const Model& b);

}  // namespace hesscope
