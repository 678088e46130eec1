// SPDX-License-Identifier: BSD-3-Clause
//
// What all result files share: the root with its attributes and the checkpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoints.h>
#include <hesscope/analysis/internal/quantity_file.h>
#include <hesscope/analyzers/point_analysis.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/dataset/result_file.h>
#include <hesscope/problem/problem.h>
#include <hesscope/storage/overwrite.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

/// What a result is about.
struct ResultSubject {
  std::string name;  ///< "a mlp model", for the title
  Eigen::Index num_samples = 0;
  std::vector<ParameterBlock> parameter_blocks;
  std::string problem = {};       ///< as TOML; empty = none
  std::string data_sha256 = {};   ///< empty = not known
  std::string model_sha256 = {};  ///< of files that the model was made from; empty = none
};

ResultSubject subject_of(const Objective& objective);
ResultSubject subject_of(const Problem& problem);

/// What the root says about a checkpoint, in words.
struct CheckpointDefinitions {
  std::string step = "N of a file named step-N.*";
  std::string step_unit = "training step";
  std::string file = "path as given to the program";
  std::string sha256 = "hexadecimal digest of the file's bytes";
};

/// Where a result comes from, besides subject and configuration.
struct Provenance {
  std::string subject;  ///< "analysis": the title is "hesscope SUBJECT of ..."
  std::string command;
  std::uint64_t seed = 0;
  std::size_t num_checkpoints = 0;
  std::vector<std::int64_t> steps = {};  ///< of the checkpoints, if all have one
  std::string tensor_map = {};           ///< of the checkpoints' names, as TOML; empty = none
  CheckpointDefinitions definitions = {};
  std::vector<Variable> quantities = {};  ///< per checkpoint in the root, beyond the root's own
};

/// Sets what every result says about itself: conventions, title, source, history, schema version.
void set_provenance(io::ResultFile& file, const std::string& title, const std::string& command);

/// Sets what is_result_of() and difference_of() compare.
void set_configuration(io::ResultFile& file, const io::RunConfiguration& configuration);

/// Sets what is_conclusive_result() and warnings_of_result() return. If there are very many
/// warnings, the first ones, and how many more there are.
void set_conclusion(io::ResultFile& file,
                    bool is_conclusive,
                    const std::vector<std::string>& warnings);

/// What the root of every result holds, as it is there, without values; and, if a loss is known
/// from elsewhere, the comparison with it.
std::vector<Variable> root_quantities();

/// A result file with the root that every result has: attributes, parameter tensors, and variables
/// along the dimension `checkpoint`.
class CheckpointResult {
 public:
  /// @throws OutputError if the output cannot be created.
  CheckpointResult(const std::filesystem::path& output,
                   io::Existing existing,
                   const ResultSubject& subject,
                   const Provenance& provenance,
                   const io::RunConfiguration& configuration);

  QuantityFile& quantities() { return quantities_; }

  io::ResultFile& file() { return quantities_.file(); }

  /// Declares a group of variables for every checkpoint, and for the whole run, with its
  /// coordinates: the checkpoints' steps, if all have one, and the names of the parameter tensors,
  /// if it has variables along them. All groups must be declared before anything is written.
  void add_group(const std::string& group,
                 const Group& of_checkpoints,
                 const Group& of_run,
                 const std::vector<Dimension>& dimensions);

  void name_checkpoint(std::size_t index,
                       const CheckpointFile& checkpoint,
                       const std::string& sha256);

  /// Writes what was found for one checkpoint, in a declared group or in the root, "".
  void write(std::size_t index, const std::string& group, const Group& answer);

  /// Writes what was found for the run.
  void write_of_run(const std::string& group, const Group& answer);

  /// @param is_conclusive  whether every missing number is mathematically undefined; the root's
  ///                       attribute `conclusive`.
  /// @param warnings       what a reader should know about the numbers, a sentence each: the root's
  ///                       attribute `warnings`, if there are any.
  void commit(bool is_conclusive, const std::vector<std::string>& warnings);

 private:
  void define(const std::string& group, const Variable& variable);

  QuantityFile quantities_;
  std::vector<std::int64_t> steps_;  // of all checkpoints, or empty
  std::vector<ParameterBlock> blocks_;
};

/// The steps of checkpoints if all of them have one; nothing otherwise.
std::vector<std::int64_t> steps_of(const std::vector<CheckpointFile>& checkpoints);

/// The variables along `block` in the root of a file: names and offsets of the parameter tensors.
std::vector<Variable> parameter_quantities();

/// Declares the dimensions of the parameters and of their tensors, `parameter` and `block`.
void define_parameters(QuantityFile& file, std::span<const ParameterBlock> blocks);

/// Declares and writes parameter_quantities().
void add_parameter_tensors(QuantityFile& file, std::span<const ParameterBlock> blocks);

/// Declares and writes the names along `block` as a coordinate of the group, if one of its
/// quantities has this dimension.
void add_block_names(QuantityFile& file,
                     const std::string& group,
                     const Group& quantities,
                     std::span<const ParameterBlock> blocks);

/// The root's own quantities of a checkpoint: loss, gradient_norm.
Group root_record(PointAnalysis& point);

/// kOk if both are there, else why one of them is not.
Status root_status(const Group& root);

}  // namespace hesscope::detail
