// SPDX-License-Identifier: BSD-3-Clause
//
// What a result that is there says: of which run it is, and what is needed to repeat its summary.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoints.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

// Attributes of the root.
inline constexpr char kTitle[] = "title";
inline constexpr char kConfiguration[] = "configuration";  ///< all that the result depends on
inline constexpr char kConfigurationDigest[] = "configuration_sha256";
inline constexpr char kConclusive[] = "conclusive";
inline constexpr char kWarnings[] = "warnings";
inline constexpr char kHasDiverged[] = "has_diverged";  ///< of a history: 1 or 0

// What a configuration says of the order of its checkpoints: a key, and its values.
inline constexpr char kOrderKey[] = "order";
inline constexpr char kOrderGiven[] = "given";
inline constexpr char kOrderByStep[] = "by step";

/// What they say in place of the name of a checkpoint, of a number of the whole run.
inline constexpr char kAllCheckpoints[] = "all checkpoints together";

/// A configuration as results state it: of many inputs a digest in place of their names and
/// digests.
io::RunConfiguration stated(const io::RunConfiguration& configuration);

// Of the next three, each throws InputError where io::is_result_file() does: of a file of which
// nothing is known nobody is to be told to replace it.

/// Whether `path` is a result of exactly this configuration.
bool is_result_of(const std::filesystem::path& path, const io::RunConfiguration& configuration);

/// Whether `path` is a result with this Provenance::subject.
bool is_result_about(const std::filesystem::path& path, const std::string& subject);

/// The first key in which the run that wrote a result differs; "" if none does, and a remark where
/// the file does not say.
std::string difference_of(const std::filesystem::path& path,
                          const io::RunConfiguration& configuration);

/// What commit() was given. @throws InputError if it cannot be read.
bool is_conclusive_result(const io::ResultReader& result);
std::vector<std::string> warnings_of_result(const io::ResultReader& result);

/// Whether it is the history of a run that has diverged. @throws InputError if it cannot be read.
bool is_of_diverged_run(const io::ResultReader& result);

/// In which order the checkpoints of a result were taken; nothing where they are no files, but rows
/// of a history or points that the library was given. @throws InputError if it cannot be read.
std::optional<CheckpointOrder> order_of_result(const io::ResultReader& result);

/// Why each of the `count` values of a variable is, or is not, there; all of them are where the
/// file holds no statuses of it. @throws InputError if they cannot be read.
std::vector<Status> read_statuses(const io::ResultReader& result,
                                  const std::string& group,
                                  const std::string& name,
                                  std::size_t count);

/// Quantities of these names, for read_records() alone.
std::vector<Variable> real_numbers(const std::vector<std::string>& names);

/// What a group says of each of `count` things along its first dimension, as the records that were
/// written: numbers with their statuses, of what has further dimensions the first number.
/// @param quantities  flags apart. @throws InputError if they cannot be read.
std::vector<Group> read_records(const io::ResultReader& result,
                                const std::string& group,
                                const std::vector<Variable>& quantities,
                                std::size_t count);

/// The same of quantities that are of the whole run.
Group read_record(const io::ResultReader& result,
                  const std::string& group,
                  const std::vector<Variable>& quantities);

}  // namespace hesscope::detail
