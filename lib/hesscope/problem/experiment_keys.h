// SPDX-License-Identifier: BSD-3-Clause
//
// What the tables of an experiment file take: for its reader, and for whoever writes one.
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
  std::string absent;  ///< what holds where it is not there; empty = nothing
};

/// A table of an experiment file; one of several kinds where it has a `kind`.
struct FileTable {
  std::string heading;  ///< "[data] kind = \"pathfinder\""
  std::string summary;  ///< one line
  std::vector<SettingKey> keys;
  std::vector<ListKey> lists = {};
};

/// All of them, in the order of a file: read_experiment_file() takes these keys and no others.
std::vector<FileTable> experiment_file_tables();

/// "0.9", "required", "optional": what holds where the key is absent.
std::string absent_text(const SettingKey& key);

/// "whole number from 1", "none | softmax", "text": what the key takes.
std::string type_text(const SettingKey& key);

namespace detail {

/// Of [training].
std::vector<SettingKey> training_keys();
std::vector<ListKey> training_lists();

/// Of [data] and [evaluation] with a sampler, besides those of its kind: samples, seed.
std::vector<SettingKey> sample_keys();

/// Of a [[run]], besides those of its rule: name, learning_rate.
std::vector<SettingKey> run_keys();

}  // namespace detail
}  // namespace hesscope
