// SPDX-License-Identifier: BSD-3-Clause
//
// The layout of an analysis' result file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <hesscope/analysis/checkpoints.h>
#include <hesscope/analysis/internal/result_root.h>
#include <hesscope/analyzers/analyzer.h>
#include <hesscope/storage/run_configuration.h>

namespace hesscope::detail {

/// A result file with one slice per checkpoint: root variables, then a group per analyzer.
class AnalysisFile {
 public:
  /// @throws OutputError if the output cannot be created.
  AnalysisFile(const std::filesystem::path& output,
               bool overwrite,
               const ResultSubject& subject,
               const Provenance& provenance,
               const io::RunConfiguration& configuration);

  /// Declares an analyzer's group. All groups must be declared before the first record is written.
  /// @param dimensions  of the analyzer for the objective.
  void add_group(const std::string& group,
                 const Analyzer& analyzer,
                 const std::vector<Dimension>& dimensions);

  void name_checkpoint(std::size_t index,
                       const CheckpointFile& checkpoint,
                       const std::string& sha256);
  void write_record(std::size_t index, const std::string& group, const Group& record);

  /// What an analyzer says of the whole run.
  void write_run_record(const std::string& group, const Group& record);

  void commit(bool is_conclusive, const std::vector<std::string>& warnings);

 private:
  ResultRoot root_;
};

}  // namespace hesscope::detail
