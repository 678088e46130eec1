// SPDX-License-Identifier: BSD-3-Clause
//
// The list of samplers: the built-in ones and those that a program adds.
//
//   hesscope::register_sampler_kind({.name = "ring", .create = make_ring});
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hesscope/core/settings.h>
#include <hesscope/sampling/sampler.h>

namespace hesscope {

/// A kind of sampler as named in the [data] table of a problem or an experiment.
struct SamplerKind {
  std::string name;
  std::string summary = {};
  std::vector<SettingKey> keys = {};  ///< of [data], besides `kind`, `samples` and `seed`

  /// @param folder  what relative paths in the settings are relative to.
  /// @throws ConfigError if settings contradict each other; InputError for an unsuitable file.
  std::function<std::unique_ptr<Sampler>(const Settings&, const std::filesystem::path& folder)>
      create = {};

  /// The files that settings of this kind name: files_named().
  std::vector<std::filesystem::path> files(const Settings& settings,
                                           const std::filesystem::path& folder) const;
};

/// In the order of their registration, built-in ones first. The span stays valid forever and does
/// not include kinds registered later.
std::span<const SamplerKind> sampler_kinds();

/// Adds a kind that problem and experiment files can name, for this process. Safe to call
/// concurrently with anything that looks at kinds.
/// @throws PreconditionError if there already is a kind of this name, the name is empty, `create`
///         is missing, a key occurs twice or is called `kind`, `file`, `samples` or `seed`, or the
///         fallback of a key does not have its type.
void register_sampler_kind(SamplerKind kind);

/// The kind of this name, or nullptr.
const SamplerKind* find_sampler_kind(const std::string& name);

/// A sampler of the kind with this name, which must exist. @throws as SamplerKind::create;
/// PreconditionError if that returns none.
std::unique_ptr<Sampler> make_sampler(const std::string& name,
                                      const Settings& settings,
                                      const std::filesystem::path& folder);

}  // namespace hesscope
