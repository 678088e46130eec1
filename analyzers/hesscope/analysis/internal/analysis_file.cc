// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <vector>

#include <hesscope/analysis/internal/analysis_file.h>

namespace hesscope::detail {

namespace {

// Whether some of them lie along the parameter tensors.
bool have_blocks(const std::vector<Variable>& quantities) {
  return std::any_of(quantities.begin(), quantities.end(), [](const Variable& quantity) {
    const std::vector<std::string>& dimensions = quantity.dimensions;
    return std::find(dimensions.begin(), dimensions.end(), "block") != dimensions.end();
  });
}

}  // namespace

AnalysisFile::AnalysisFile(const std::filesystem::path& output,
                           bool overwrite,
                           const ResultSubject& subject,
                           const Provenance& provenance,
                           const io::RunConfiguration& configuration)
    : root_(output, overwrite, subject, provenance, configuration) {}

void AnalysisFile::add_group(const std::string& group,
                             const Analyzer& analyzer,
                             const std::vector<Dimension>& dimensions) {
  root_.quantities().define_dimensions(group, dimensions);
  root_.begin_group(group, have_blocks(analyzer.declared().variables));
  for (const Variable& quantity : analyzer.declared().variables) root_.define(group, quantity);
  for (const Variable& quantity : analyzer.declared_of_run().variables)
    root_.define_of_run(group, quantity);
}

void AnalysisFile::name_checkpoint(std::size_t index,
                                   const CheckpointFile& checkpoint,
                                   const std::string& sha256) {
  root_.name_checkpoint(index, checkpoint, sha256);
}

void AnalysisFile::write_record(std::size_t index, const std::string& group, const Group& record) {
  root_.write_record(index, group, record);
}

void AnalysisFile::write_run_record(const std::string& group, const Group& record) {
  root_.write_run_record(group, record);
}

void AnalysisFile::commit(bool is_conclusive, const std::vector<std::string>& warnings) {
  root_.commit(is_conclusive, warnings);
}

}  // namespace hesscope::detail
