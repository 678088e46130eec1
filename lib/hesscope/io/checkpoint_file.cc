// SPDX-License-Identifier: BSD-3-Clause
#include <system_error>

#include <fmt/format.h>
#include <hdf5.h>

#include <hesscope/core/error.h>
#include <hesscope/io/atomic_file.h>
#include <hesscope/io/checkpoint_file.h>
#include <hesscope/io/hdf5_handle.h>
#include <hesscope/io/netcdf_layout.h>
#include <hesscope/io/recording_driver.h>
#include <hesscope/io/tensor_file.h>

namespace hesscope::io {
namespace {

using netcdf::Place;

void require_tensor(const CheckpointTensor& tensor) {
  std::size_t size = 1;
  for (const std::int64_t extent : tensor.shape) size *= static_cast<std::size_t>(extent);
  if (tensor.name.empty() || tensor.name.find('/') != std::string::npos ||
      size != tensor.values.size()) {
    throw PreconditionError(
        fmt::format("write_checkpoint: a tensor needs a name without '/' and as many values as its "
                    "shape says, got '{}' of shape {} with {}",
                    tensor.name,
                    shape_text(tensor.shape),
                    tensor.values.size()));
  }
}

void write_tensor(hid_t file, const CheckpointTensor& tensor, const Place& place) {
  const std::vector<hsize_t> shape(tensor.shape.begin(), tensor.shape.end());
  const Hid space(shape.empty()
                      ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                  H5Sclose);
  const Hid creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (!space || !creation || H5Pset_obj_track_times(creation.get(), false) < 0) {
    netcdf::fail(place, "describe it");
  }
  Hid dataset(H5Dcreate2(file,
                         tensor.name.c_str(),
                         H5T_IEEE_F64LE,
                         space.get(),
                         H5P_DEFAULT,
                         creation.get(),
                         H5P_DEFAULT),
              H5Dclose);
  if (!dataset) netcdf::fail(place, "create it");
  if (H5Dwrite(
          dataset.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, tensor.values.data()) <
      0) {
    netcdf::fail(place, "write it");
  }
  dataset.close_checked(place.text());
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path,
                      std::span<const CheckpointTensor> tensors,
                      bool overwrite) {
  for (const CheckpointTensor& tensor : tensors) require_tensor(tensor);
  AtomicFile output(path, overwrite);
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
