// SPDX-License-Identifier: BSD-3-Clause
//
// Keras 3 models, .keras: a zip archive that contains the weights as an HDF5 file. Reached through
// format_registry.h. Weights saved alone (.weights.h5, .h5) are HDF5 files.
#pragma once

#include <memory>

#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {

/// True for a zip archive, even a damaged one, that begins as Keras writes it.
bool recognises_keras(const InputFile& file);

/// The tensors of its model.weights.h5, named as by open_hdf5(). The configuration, which can name
/// code to run, is ignored.
/// @throws InputError as open_tensor_file(); for weights in another form, with a remedy.
/// @cost   memory for the weights in the process that reads them.
std::unique_ptr<TensorSource> open_keras(std::shared_ptr<const InputFile> file,
                                         const ReadLimits& limits);

}  // namespace hesscope::io
