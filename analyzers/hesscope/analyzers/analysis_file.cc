// SPDX-License-Identifier: BSD-3-Clause
#include <span>
#include <string>

#include <hesscope/analyzers/analysis_file.h>

namespace hesscope::detail {

void define_dimensions(io::ResultFile& file,
                       const std::string& group,
                       const std::vector<Analyzer::Dimension>& dimensions) {
  for (const Analyzer::Dimension& dimension : dimensions) {
    file.define_dimension(group, dimension.name, static_cast<std::uint64_t>(dimension.size));
    const bool has_labels = !dimension.labels.empty();
    if (!has_labels && dimension.numbers.empty()) continue;
    file.define_variable(
        group,
        {.name = dimension.name,
         .type = has_labels ? io::VariableType::kText : io::VariableType::kInt64,
         .dimensions = {dimension.name},
         .long_name =
             (has_labels ? "names" : "numbers") + (" along the dimension " + dimension.name),
         .definition = has_labels ? "as the analyzer names them" : "as the analyzer was told"});
    if (has_labels) {
      file.write(group, dimension.name, dimension.labels);
    } else {
      file.write(group, dimension.name, dimension.numbers);
    }
  }
}

AnalysisFile::AnalysisFile(const std::filesystem::path& output,
                           bool overwrite,
                           const ResultSubject& subject,
                           const Provenance& provenance,
                           const io::RunConfiguration& configuration)
    : root_(output, overwrite, subject, provenance, configuration) {}

void AnalysisFile::add_group(const std::string& group,
                             const Analyzer& analyzer,
                             const std::vector<Analyzer::Dimension>& dimensions) {
  define_dimensions(root_.file(), group, dimensions);
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

void AnalysisFile::commit(bool is_conclusive) { root_.commit(is_conclusive); }

}  // namespace hesscope::detail
