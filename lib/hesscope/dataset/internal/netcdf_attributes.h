// SPDX-License-Identifier: BSD-3-Clause
//
// How a variable describes itself: attributes with the names and meanings of the CF conventions.
#pragma once

#include <hesscope/dataset/dataset.h>
#include <hesscope/dataset/internal/netcdf_layout.h>

namespace hesscope::io::netcdf {

/// @throws OutputError if an attribute is one of those that HDF5 and netCDF write themselves.
void require_unreserved(const Attribute& attribute, const Place& where);

/// Writes the attributes of a new variable.
void describe(hid_t variable, const Variable& spec, bool is_coordinate, const Place& where);

}  // namespace hesscope::io::netcdf
