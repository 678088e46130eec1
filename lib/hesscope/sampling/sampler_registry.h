// SPDX-License-Identifier: BSD-3-Clause
//
// The one list of samplers: those built in, and those that a program adds.
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

/// A kind of sampler as the [data] table of a problem or an experiment names it.
struct SamplerKind {
  std::string name;
  std::string summary = {};
  std::vector<SettingKey> keys = {};  ///< of the [data] table, besides `kind`, `samples` and `seed`

  /// @param folder  what relative paths in the settings are relative to.
  /// @throws ConfigError where settings contradict each other; InputError for a file that does not
  /// fit.
  std::function<std::unique_ptr<Sampler>(const Settings&, const std::filesystem::path& folder)>
      create = {};

  /// The files that settings of this kind name: files_named().
  std::vector<std::filesystem::path> files(const Settings& settings,
                                           const std::filesystem::path& folder) const;
};

/// In the order of their registration, those built in first. Valid for good, and without kinds that
/// are registered later.
std::span<const SamplerKind> sampler_kinds();

/// Adds a kind for problem and experiment files to name, for this process. Safe to call
/// concurrently with all that looks at kinds.
/// @throws PreconditionError if there is one of this name, it has no name or no `create`, or two of
///         its keys, or one and `kind`, `file`, `samples` or `seed`, have the same name, or the
///         fallback of one is not of its type.
void register_sampler_kind(SamplerKind kind);

/// The kind of this name, or nullptr.
const SamplerKind* find_sampler_kind(const std::string& name);

/// A sampler of the kind of this name, which there is. @throws as SamplerKind::create;
/// PreconditionError where that makes none.
std::unique_ptr<Sampler> make_sampler(const std::string& name,
                                      const Settings& settings,
                                      const std::filesystem::path& folder);

}  // namespace hesscope
