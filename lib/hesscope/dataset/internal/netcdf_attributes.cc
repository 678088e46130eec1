// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/internal/netcdf_attributes.h>

namespace hesscope::io::netcdf {
namespace {

// Written and read by the HDF5 and netCDF libraries themselves.
constexpr std::array<std::string_view, 8> kReservedAttributes = {"CLASS",
                                                                 "NAME",
                                                                 "DIMENSION_LIST",
                                                                 "REFERENCE_LIST",
                                                                 "_Netcdf4Dimid",
                                                                 "_Netcdf4Coordinates",
                                                                 "_nc3_strict",
                                                                 "_NCProperties"};

}  // namespace

void require_unreserved(const Attribute& attribute, const Place& where) {
  if (std::find(kReservedAttributes.begin(), kReservedAttributes.end(), attribute.name) !=
      kReservedAttributes.end()) {
    throw OutputError(
        fmt::format("{}: the attribute name '{}' is reserved", where.text(), attribute.name));
  }
}

void describe(hid_t variable, const Variable& spec, bool is_coordinate, const Place& where) {
  write_attribute(variable, {"long_name", spec.long_name}, where);
  write_attribute(variable, {"units", spec.units}, where);
  write_attribute(variable, {"definition", spec.definition}, where);
  if (!spec.references.empty()) {  // the name is from the CF conventions
    write_attribute(
        variable, {"references", fmt::format("{}", fmt::join(spec.references, "; "))}, where);
  }
  if (spec.type == VariableType::kDouble && !is_coordinate) {
    write_attribute(variable, {"_FillValue", kNaN}, where);
  }
  if (!spec.flag_meanings.empty()) {
    std::vector<std::int8_t> values;
    std::string meanings;
    for (const std::string& meaning : spec.flag_meanings) {
      values.push_back(static_cast<std::int8_t>(values.size()));
      meanings += (meanings.empty() ? "" : " ") + meaning;
    }
    write_attribute(variable, {"flag_values", values}, where);
    write_attribute(variable, {"flag_meanings", meanings}, where);
  }
  if (!spec.coordinates.empty()) {
    write_attribute(
        variable, {"coordinates", fmt::format("{}", fmt::join(spec.coordinates, " "))}, where);
  }
  if (!spec.ancillary_variables.empty()) {
    write_attribute(variable, {"ancillary_variables", spec.ancillary_variables}, where);
  }
}

}  // namespace hesscope::io::netcdf
