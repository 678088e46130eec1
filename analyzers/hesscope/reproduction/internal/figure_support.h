// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by kinds of figures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hesscope/reproduction/internal/experiment_figure_kind.h>
#include <hesscope/reproduction/internal/experiment_results.h>
#include <hesscope/reproduction/internal/seed_statistics.h>

namespace hesscope::detail {

/// A key with names of variables "GROUP/NAME".
SettingKey quantity_key(const std::string& name);

/// "x_scale": linear, log or signed-log.
SettingKey scale_key(const std::string& name, const std::string& fallback);

plot::ScaleKind scale_from(const ExperimentFigure& figure, const std::string& key);

/// A dimension whose entries the experiment file names.
Dimension named_dimension(const std::string& name, const std::vector<std::string>& labels);
Dimension numbered_dimension(const std::string& name, const std::vector<std::int64_t>& numbers);

Dimension variant_dimension(const ExperimentFigure& figure);
Dimension run_dimension(const ExperimentFigure& figure);
Dimension seed_dimension(const std::vector<std::uint64_t>& seeds);

/// Adds `count`, `mean` and `standard_deviation` over seeds.
/// @param of  what they describe, in the plural: "values".
void add_statistics(const std::vector<std::string>& dimensions,
                    const std::string& of,
                    std::span<const SeedStatistics> statistics,
                    Group& data);

/// Title of a variant's panel; empty if there is only one variant.
std::string panel_title(const ExperimentResults& results,
                        const ExperimentFigure& figure,
                        const std::string& variant);

/// Title of a run's panel, which distinguishes it from the others: the variant, the run, both or
/// nothing.
std::string panel_title(const ExperimentResults& results,
                        const ExperimentFigure& figure,
                        const std::string& variant,
                        const std::string& run);

/// Adds lines across a panel at the figure's marked steps.
void add_marks(const ExperimentFigure& figure, plot::Panel& panel);

/// Rows of a table about runs, preceded by the titles of variant and run if there are several.
class RunTable {
 public:
  RunTable(const ExperimentResults& results,
           const ExperimentFigure& figure,
           std::vector<std::string> headings);

  void add(const std::string& variant, const std::string& run, std::vector<std::string> cells);

  const std::vector<std::vector<std::string>>& rows() const { return rows_; }

 private:
  std::vector<std::string> titles_of(const std::string& variant, const std::string& run) const;

  const ExperimentResults& results_;
  const ExperimentFigure& figure_;
  std::vector<std::vector<std::string>> rows_;
};

/// A figure that is a table. Powers of ten, as in "1.5e-07", are drawn as powers.
plot::Figure table_figure(const ExperimentFigure& figure,
                          const std::vector<std::vector<std::string>>& rows);

/// Adds what all figures have in common: letters of panels, and equal scales if the figure wants
/// them.
void finish_panels(const ExperimentFigure& figure, plot::Figure& drawn);

/// Rows as a Markdown table, the first as its header.
std::string markdown_table(const std::vector<std::vector<std::string>>& rows);

/// The position of a name; nothing if it is not among them.
std::optional<std::size_t> index_of(const std::vector<std::string>& names, const std::string& name);

/// The same; for an empty name, the first position.
std::optional<std::size_t> index_or_first(const std::vector<std::string>& names,
                                          const std::string& name);

/// The key `quantity` of a figure as the only quantity that its published values may have.
std::vector<std::string> own_quantity(const ExperimentFigure& figure);

/// Our numbers for a published value; count 0 if we have none.
/// @param variant, run  positions of the value's variant and run in the figure; without a run, the
///                 first.
using OwnValue = std::function<SeedStatistics(
    const PublishedValue& value, std::size_t variant, std::size_t run)>;

/// Whether our numbers may be compared with published ones: scale "paper", no key changed.
bool is_as_published(const ExperimentDocument& document);

/// A line that says why they are not.
std::string not_comparable_text(const ExperimentDocument& document);

/// Puts a figure's published values next to ours in its text, and adds its disagreements and
/// undecided comparisons (verdict.h).
/// @param divide  a number; ours on its other side would say the contrary.
void compare_with_published(const ExperimentResults& results,
                            const ExperimentFigure& figure,
                            const OwnValue& own,
                            FigureContent& content,
                            std::optional<double> divide = {});

/// @throws ConfigError if the folder holds a figure of the experiment that was made at another
///         scale or with other overrides; OutputError for files with their names that are not
///         figures. Files that may be replaced are not refused.
void refuse_other_figures(const std::filesystem::path& folder,
                          const ExperimentDocument& document,
                          io::Overwrite overwrite);

/// Writes the figure's three files, NAME.h5, NAME.svg and NAME.md, and replaces existing ones.
/// @throws OutputError.
void write_figure(const std::filesystem::path& folder,
                  const ExperimentResults& results,
                  const ExperimentFigure& figure,
                  const FigureContent& content,
                  const std::string& command);

}  // namespace hesscope::detail
