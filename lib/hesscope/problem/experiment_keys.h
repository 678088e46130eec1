// SPDX-License-Identifier: BSD-3-Clause
//
// The keys in the tables of an experiment file, for reading and for writing such files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hesscope/core/settings.h>

namespace hesscope {

/// A key whose value is a list.
struct ListKey {
  std::string name;
  std::string meaning;
  std::string absent;  ///< meaning of its absence; empty = nothing
};

/// A table of an experiment file; if it has a `kind`, one of several alternatives.
struct FileTable {
  std::string heading;  ///< "[data] kind = \"pathfinder\""
  std::string summary;  ///< one line
  std::vector<SettingKey> keys;
  std::vector<ListKey> lists = {};
};

/// All tables, in the order of a file: read_experiment_file() accepts these keys and no others.
std::vector<FileTable> experiment_file_tables();

/// "0.9", "required", "optional": what applies if the key is absent.
std::string absent_text(const SettingKey& key);

/// "whole number from 1", "none | softmax", "text": the values that the key accepts.
std::string type_text(const SettingKey& key);

namespace detail {

/// Keys of [training].
std::vector<SettingKey> training_keys();
std::vector<ListKey> training_lists();

/// Keys of [data] and [evaluation] with a sampler, in addition to its own keys: samples, seed.
std::vector<SettingKey> sample_keys();

/// Keys of a [[run]], in addition to those of its rule: name, learning_rate.
std::vector<SettingKey> run_keys();

}  // namespace detail
}  // namespace hesscope
