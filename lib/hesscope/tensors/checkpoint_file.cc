// SPDX-License-Identifier: BSD-3-Clause
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <hdf5.h>

#include <hesscope/core/error.h>
#include <hesscope/dataset/internal/netcdf_layout.h>
#include <hesscope/hdf5/internal/hdf5_handle.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/tensors/checkpoint_file.h>
#include <hesscope/tensors/internal/hdf5/hdf5_types.h>
#include <hesscope/tensors/internal/tensor_encoding.h>

namespace hesscope::io {
namespace {

using netcdf::Place;

void write_tensor(hid_t file, const CheckpointTensor& tensor, const Place& place) {
  if (tensor.name == "." || tensor.name.find('/') != std::string::npos) {
    throw OutputError(
        fmt::format("{}: an HDF5 file cannot hold this name, since '/' and '.' stand for groups in "
                    "it; write .npz or .safetensors",
                    place.text()));
  }
  const Hid type = stored_type(tensor.type);
  if (!type) {
    throw OutputError(fmt::format(
        "{}: h5py has no {}; store it as float32", place.text(), to_string(tensor.type)));
  }
  std::string bytes;
  encode_elements(place.text(), tensor.type, tensor.values, bytes);
  const std::vector<hsize_t> shape(tensor.shape.begin(), tensor.shape.end());
  const Hid space(shape.empty()
                      ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                  H5Sclose);
  const Hid creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (!space || !creation || H5Pset_obj_track_times(creation.get(), false) < 0) {
    netcdf::fail(place, "describe it");
  }
  const std::vector<hsize_t> chunk = netcdf::chunk_shape(shape, size_of(tensor.type));
  const bool is_guarded =
      chunk.empty()
          ? bytes.empty() || H5Pset_layout(creation.get(), H5D_COMPACT) >= 0
          : H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data()) >= 0 &&
                H5Pset_fletcher32(creation.get()) >= 0;
  if (!is_guarded) netcdf::fail(place, "set its storage");
  Hid dataset(H5Dcreate2(file,
                         tensor.name.c_str(),
                         type.get(),
                         space.get(),
                         H5P_DEFAULT,
                         creation.get(),
                         H5P_DEFAULT),
              H5Dclose);
  if (!dataset) netcdf::fail(place, "create it");
  // In their stored type, so that HDF5 converts nothing.
  if (H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) < 0) {
    netcdf::fail(place, "write it");
  }
  dataset.close_checked(place.text());
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path,
                      std::span<const CheckpointTensor> tensors,
                      Existing existing) {
  require_tensors("write_checkpoint", tensors);
  AtomicFile output(path, existing);
  const QuietHdf5 quiet;
  int first_error = 0;
  {
    const Place place{path, "the checkpoint"};
    Hid file = netcdf::create_file(output.temporary(), first_error, place);
    for (const CheckpointTensor& tensor : tensors) {
      write_tensor(file.get(), tensor, {path, fmt::format("tensor '{}'", tensor.name)});
    }
    file.close_checked(place.text());
  }
  if (first_error != 0) {
    throw OutputError(fmt::format(
        "{}: cannot write: {}", path.string(), std::generic_category().message(first_error)));
  }
  output.publish();
}

}  // namespace hesscope::io
