// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <vector>

#include <hesscope/report/page.h>
#include <hesscope/reproduction/internal/experiment_figure_kind.h>
#include <hesscope/reproduction/internal/experiment_results.h>
#include <hesscope/storage/overwrite.h>

namespace hesscope::detail {

/// The page with all figures, in the folder of a reproduction.
inline constexpr const char* kPageName = "report.html";

/// An experiment on the page, without its figures.
report::Section section_of(const ExperimentDocument& document);

/// A figure of it, with published values next to ours.
void add_figure(const ExperimentDocument& document,
                const ExperimentFigure& figure,
                const FigureContent& content,
                report::Section& section);

/// @throws OutputError if something else is in the page's place and may not be replaced.
void refuse_other_page(const std::filesystem::path& folder, io::Overwrite overwrite);

/// @throws OutputError.
void write_page(const std::filesystem::path& folder, std::vector<report::Section> sections);

}  // namespace hesscope::detail
