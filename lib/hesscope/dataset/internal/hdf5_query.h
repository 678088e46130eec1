// SPDX-License-Identifier: BSD-3-Clause
//
// Queries to an open HDF5 object of a result file. None of them throws because of what it finds:
// anything of another kind than ResultFile writes counts as absent, and is distinguished from what
// cannot be read, in a damaged file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <hdf5.h>

#include <hesscope/dataset/dataset.h>

namespace hesscope::io {

enum class AttributeRead {
  kDone,
  kForeign,  ///< not as ResultFile writes them, such as the references between dimension scales
  kDamaged,
};

/// Changes `value` only if the result is "done".
AttributeRead read_attribute(hid_t object, const char* name, AttributeValue& value);

// The following functions return nothing if the value cannot be read.

/// "" if there is none or it is not text.
std::optional<std::string> text_attribute(hid_t object, const char* name);

/// In order of creation, if tracked.
std::optional<std::vector<std::string>> attribute_names(hid_t object);

/// Names of the hard links, in order of creation, if tracked.
std::optional<std::vector<std::string>> link_names(hid_t group);

/// kOther for a type that ResultFile does not write.
VariableType type_of(hid_t dataset);

/// Name of the dimension scale attached to an axis; "" if there is none.
std::optional<std::string> dimension_name(hid_t dataset, unsigned axis);

/// Text split at white space.
std::vector<std::string> words(const std::string& text);

/// The texts between "; ".
std::vector<std::string> items(const std::string& text);

}  // namespace hesscope::io
