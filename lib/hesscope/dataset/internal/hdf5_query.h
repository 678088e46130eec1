// SPDX-License-Identifier: BSD-3-Clause
//
// Questions to an open HDF5 object of a result file. None of them throws for what it finds: what
// cannot be read counts as not there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <hdf5.h>

#include <hesscope/dataset/dataset.h>

namespace hesscope::io {

/// @returns false, and leaves `value`, for an attribute that ResultFile does not write, such as the
///          references between dimension scales.
bool read_attribute(hid_t object, const char* name, AttributeValue& value);

/// "" where there is none or it is not text.
std::string text_attribute(hid_t object, const char* name);

/// In order of creation where that was tracked.
std::vector<std::string> attribute_names(hid_t object);

/// Names of the hard links, in order of creation where that was tracked.
std::vector<std::string> link_names(hid_t group);

/// kOther for a type that ResultFile does not write.
VariableType type_of(hid_t dataset);

/// Name of the dimension scale attached to one axis, "" without one.
std::string dimension_name(hid_t dataset, unsigned axis);

/// Text split at white space.
std::vector<std::string> words(const std::string& text);

/// The texts between "; ".
std::vector<std::string> items(const std::string& text);

}  // namespace hesscope::io
