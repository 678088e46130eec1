// SPDX-License-Identifier: BSD-3-Clause
//
// PyTorch checkpoints (.pt, .pth). Reached through format_registry.h.
#pragma once

#include <memory>

#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// True for files from torch.save, even damaged ones: a zip archive since PyTorch 1.6, before that
/// pickles or a tar archive, which open_torch() refuses.
bool recognises_torch(const InputFile& file);

/// Everything in the checkpoint that is a tensor, by its dotted name: "layers.0.P" of a state_dict,
/// "model_state_dict.layers.0.P" and "optimizer_state_dict.state.0.exp_avg_sq" of a training
/// checkpoint. If the checkpoint is a single tensor, it is named after the file without its
/// extension. Further numbers are available from TensorSource::number(), and texts from values().
///
/// Nothing in the file is executed, whatever it would have Python call: the pickle is read as data
/// (pickle.h). Views, shared storages and expanded tensors are read correctly. Complex, quantised,
/// sparse and other tensors that are not arrays of real numbers are unreadable().
/// @throws InputError as open_tensor_file(); also for TorchScript programs and the formats before
///         PyTorch 1.6, with the line that re-saves them.
std::unique_ptr<TensorSource> open_torch(std::shared_ptr<const InputFile> file,
                                         const ReadLimits& limits);

}  // namespace hesscope::io
