// SPDX-License-Identifier: BSD-3-Clause
//
// What an existing result says: of which run it is, and what is needed to repeat its summary.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoint_run.h>
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

// The key for the order of checkpoints in a configuration, and its values.
inline constexpr char kOrderKey[] = "order";
inline constexpr char kOrderGiven[] = "given";
inline constexpr char kOrderByStep[] = "by step";

/// What takes the place of a checkpoint's name for a number of the whole run.
inline constexpr char kAllCheckpoints[] = "all checkpoints together";

/// A configuration as results state it: if there are many inputs, one digest replaces their names
/// and digests.
io::RunConfiguration stated(const io::RunConfiguration& configuration);

// Each of the next three functions throws InputError where io::is_result_file() does: nobody should
// be told to replace a file about which nothing is known.

/// Whether `path` is a result of exactly this configuration.
bool is_result_of(const std::filesystem::path& path, const io::RunConfiguration& configuration);

/// Whether `path` is a result with this Provenance::subject.
bool is_result_about(const std::filesystem::path& path, const std::string& subject);

/// The first key in which the run that wrote a result differs; "" if none does; a remark if the
/// file does not say.
std::string difference_of(const std::filesystem::path& path,
                          const io::RunConfiguration& configuration);

/// The arguments of commit(). @throws InputError if they cannot be read.
bool is_conclusive_result(const io::ResultReader& result);
std::vector<std::string> warnings_of_result(const io::ResultReader& result);

/// The same as parts of a summary that was read instead of computed. @throws as these.
void read_conclusion(const io::ResultReader& result, CheckpointRunResult& summary);

/// Whether it is the history of a diverged run. @throws InputError if it cannot be read.
bool is_of_diverged_run(const io::ResultReader& result);

/// In which order the checkpoints of a result were taken; nothing if they are not files but rows of
/// a history, or points that the library was given. @throws InputError if it cannot be read.
std::optional<CheckpointOrder> order_of_result(const io::ResultReader& result);

/// The status of each of the `count` values of a variable; all are kOk if the file holds no
/// statuses for it. @throws InputError if they cannot be read.
std::vector<Status> read_statuses(const io::ResultReader& result,
                                  const std::string& group,
                                  const std::string& name,
                                  std::size_t count);

/// Quantities with these names, for read_records() only.
std::vector<Variable> real_numbers(const std::vector<std::string>& names);

/// What a group says about each of `count` things along its first dimension, as the records that
/// were written: numbers with their statuses; for quantities with further dimensions, the first
/// number.
/// @param quantities  other than flags. @throws InputError if they cannot be read.
std::vector<Group> read_records(const io::ResultReader& result,
                                const std::string& group,
                                const std::vector<Variable>& quantities,
                                std::size_t count);

/// The same for quantities of the whole run.
Group read_record(const io::ResultReader& result,
                  const std::string& group,
                  const std::vector<Variable>& quantities);

}  // namespace hesscope::detail
