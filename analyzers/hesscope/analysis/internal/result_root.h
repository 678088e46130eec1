// SPDX-License-Identifier: BSD-3-Clause
//
// What all result files share: the root with its attributes and the checkpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoints.h>
#include <hesscope/analysis/internal/quantity_file.h>
#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/dataset/result_file.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/problem/problem.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

/// What a result is about.
struct ResultSubject {
  std::string name;  ///< "a mlp model", for the title
  Eigen::Index num_samples = 0;
  std::vector<ParameterBlock> parameter_blocks;
  std::string problem = {};      ///< as TOML; empty = none
  std::string data_sha256 = {};  ///< empty = not known
};

ResultSubject subject_of(const Objective& objective);
ResultSubject subject_of(const Problem& problem);

/// What the root says of a checkpoint, in words.
struct CheckpointDefinitions {
  std::string step = "N of a file named step-N.*";
  std::string file = "path as given to the program";
  std::string sha256 = "hexadecimal digest of the file's bytes";
};

/// Where a result comes from, besides subject and configuration.
struct Provenance {
  std::string subject;  ///< "analysis": the title is "hesscope SUBJECT of ..."
  std::string command;
  std::uint64_t seed = 0;
  std::size_t num_checkpoints = 0;
  std::vector<std::int64_t> steps = {};  ///< of the checkpoints, if all of them have one
  std::string tensor_map = {};           ///< of the checkpoints' names, as TOML; empty = none
  CheckpointDefinitions definitions = {};
  std::vector<Variable> quantities = {};  ///< of each checkpoint in the root, beyond its own
};

/// Sets what every result says of itself: conventions, title, source, history, schema version.
void set_provenance(io::ResultFile& file, const std::string& title, const std::string& command);

/// Sets what is_result_of() and difference_of() look at.
void set_configuration(io::ResultFile& file, const io::RunConfiguration& configuration);

/// A result file with the root that every result has: attributes, parameter tensors, and variables
/// along the dimension `checkpoint`.
class ResultRoot {
 public:
  /// @throws OutputError if the output cannot be created.
  ResultRoot(const std::filesystem::path& output,
             bool overwrite,
             const ResultSubject& subject,
             const Provenance& provenance,
             const io::RunConfiguration& configuration);

  QuantityFile& quantities() { return quantities_; }

  io::ResultFile& file() { return quantities_.file(); }

  /// Begins a group of quantities of the checkpoints: with their steps, if all of them have one, as
  /// a coordinate, and the names of the parameter tensors if `has_blocks`.
  void begin_group(const std::string& group, bool has_blocks);

  /// Declares a quantity of every checkpoint.
  void define(const std::string& group, const Variable& quantity);

  /// Declares a quantity of the whole run.
  void define_of_run(const std::string& group, const Variable& quantity);

  void name_checkpoint(std::size_t index,
                       const CheckpointFile& checkpoint,
                       const std::string& sha256);

  /// What was found for one checkpoint, in a group of quantities so declared.
  void write_record(std::size_t index, const std::string& group, const Group& record);

  /// What was found for the run, in a group of quantities so declared.
  void write_run_record(const std::string& group, const Group& record);

  /// @param is_conclusive  whether no number is missing but where mathematics leaves it undefined;
  ///                       the root's attribute `conclusive`.
  /// @param warnings       what a reader should know of the numbers, a sentence each: the root's
  ///                       attribute `warnings`, where there are any.
  void commit(bool is_conclusive, const std::vector<std::string>& warnings);

 private:
  QuantityFile quantities_;
  std::vector<std::int64_t> steps_;  // of all checkpoints, or of none
  std::vector<std::string> blocks_;
};

/// The steps of checkpoints if all of them have one; nothing otherwise.
std::vector<std::int64_t> steps_of(const std::vector<CheckpointFile>& checkpoints);

/// Declares and writes, as a coordinate of the group, the names along the dimension `block`.
void add_block_names(QuantityFile& file,
                     const std::string& group,
                     const std::vector<std::string>& names);

/// The root's own quantities of a checkpoint: loss, gradient_norm.
Group root_record(PointAnalysis& point);

/// kOk where both are there, else why one of them is not.
Status root_status(const Group& root);

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

/// Why each of the `count` values of a variable is, or is not, there; all of them are where the file
/// holds no statuses of it. @throws InputError if they cannot be read.
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
