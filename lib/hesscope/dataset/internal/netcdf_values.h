// SPDX-License-Identifier: BSD-3-Clause
//
// Writing values to a variable of a netCDF-4 file.
#pragma once

#include <vector>

#include <hesscope/dataset/internal/netcdf_layout.h>
#include <hesscope/dataset/result_file.h>
#include <hesscope/hdf5/internal/hdf5_handle.h>

namespace hesscope::io::netcdf {

/// Where values go: a whole variable, or a part with a start and an extent on each axis.
struct Slab {
  std::vector<hsize_t> start;
  std::vector<hsize_t> count;
};

/// Writes as many values as the slab has entries, at least one.
void write_values(hid_t variable,
                  const Slab& slab,
                  const VariableValues& values,
                  const Place& place);

}  // namespace hesscope::io::netcdf
