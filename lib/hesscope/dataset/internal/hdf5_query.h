// SPDX-License-Identifier: BSD-3-Clause
//
// Questions to an open HDF5 object of a result file. None of them throws for what it finds: what is
// of another kind than ResultFile writes counts as not there, and what cannot be read, in a damaged
// file, is told from it.
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

/// Leaves `value` unless it is done.
AttributeRead read_attribute(hid_t object, const char* name, AttributeValue& value);

// Of the rest the result is nothing where it cannot be read.

/// "" where there is none or it is not text.
std::optional<std::string> text_attribute(hid_t object, const char* name);

/// In order of creation where that was tracked.
std::optional<std::vector<std::string>> attribute_names(hid_t object);

/// Names of the hard links, in order of creation where that was tracked.
std::optional<std::vector<std::string>> link_names(hid_t group);

/// kOther for a type that ResultFile does not write.
VariableType type_of(hid_t dataset);

/// Name of the dimension scale attached to one axis, "" without one.
std::optional<std::string> dimension_name(hid_t dataset, unsigned axis);

/// Text split at white space.
std::vector<std::string> words(const std::string& text);

/// The texts between "; ".
std::vector<std::string> items(const std::string& text);

}  // namespace hesscope::io
