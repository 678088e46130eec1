// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <vector>

#include <hesscope/analysis/internal/analysis_file.h>

namespace hesscope::detail {

namespace {

// Whether some of them lie along the parameter tensors.
bool have_blocks(const std::vector<Quantity>& quantities) {
  return std::any_of(quantities.begin(), quantities.end(), [](const Quantity& quantity) {
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
                             const std::vector<Analyzer::Dimension>& dimensions) {
  root_.quantities().define_dimensions(group, dimensions);
  root_.begin_group(group, have_blocks(analyzer.quantities()));
  for (const Quantity& quantity : analyzer.quantities()) root_.define(group, quantity);
  for (const Quantity& quantity : analyzer.run_quantities()) root_.define_of_run(group, quantity);
}

void AnalysisFile::name_checkpoint(std::size_t index,
                                   const CheckpointFile& checkpoint,
                                   const std::string& sha256) {
  root_.name_checkpoint(index, checkpoint, sha256);
}

void AnalysisFile::write_record(std::size_t index, const std::string& group, const Record& record) {
  root_.write_record(index, group, record);
}

void AnalysisFile::write_run_record(const std::string& group, const Record& record) {
  root_.write_run_record(group, record);
}

void AnalysisFile::commit(bool is_conclusive, const std::vector<std::string>& warnings) {
  root_.commit(is_conclusive, warnings);
}

}  // namespace hesscope::detail
