// SPDX-License-Identifier: BSD-3-Clause
//
// What kinds of figures share.
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

/// A dimension along which lies what the experiment file names.
Dimension named_dimension(const std::string& name, const std::vector<std::string>& labels);
Dimension numbered_dimension(const std::string& name, const std::vector<std::int64_t>& numbers);

Dimension variant_dimension(const ExperimentFigure& figure);
Dimension run_dimension(const ExperimentFigure& figure);
Dimension seed_dimension(const std::vector<std::uint64_t>& seeds);

/// Adds `count`, `mean` and `standard_deviation` over seeds.
/// @param of  what they are taken of, in the plural: "values".
void add_statistics(const std::vector<std::string>& dimensions,
                    const std::string& of,
                    std::span<const SeedStatistics> statistics,
                    Group& data);

/// Title of a variant's panel; none where there is only one variant.
std::string panel_title(const ExperimentResults& results,
                        const ExperimentFigure& figure,
                        const std::string& variant);

/// That of a run's panel, by what tells it from the others: the variant, the run, both or nothing.
std::string panel_title(const ExperimentResults& results,
                        const ExperimentFigure& figure,
                        const std::string& variant,
                        const std::string& run);

/// Lines across a panel at the figure's marked steps.
void add_marks(const ExperimentFigure& figure, plot::Panel& panel);

/// Rows of a table about runs, before which stand the titles of variant and run where there are
/// several.
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

/// A figure that is a table. Powers of ten, as in "1.5e-07", are drawn as such.
plot::Figure table_figure(const ExperimentFigure& figure,
                          const std::vector<std::vector<std::string>>& rows);

/// What all figures have in common: letters of panels, and equal scales where the figure wants
/// them.
void finish_panels(const ExperimentFigure& figure, plot::Figure& drawn);

/// Rows as a Markdown table, the first as its header.
std::string markdown_table(const std::vector<std::vector<std::string>>& rows);

/// The place of a name; nothing where it is not there.
std::optional<std::size_t> index_of(const std::vector<std::string>& names, const std::string& name);

/// The same, and of no name that of the first.
std::optional<std::size_t> index_or_first(const std::vector<std::string>& names,
                                          const std::string& name);

/// The key `quantity` of a figure, as all that its published values may be of.
std::vector<std::string> own_quantity(const ExperimentFigure& figure);

/// What we have where a published value is; count 0 where we have nothing.
/// @param variant, run  the places of the value's among the figure's; of no run that of the first.
using OwnValue = std::function<SeedStatistics(
    const PublishedValue& value, std::size_t variant, std::size_t run)>;

/// Whether our numbers may be compared with published ones: the scale "paper", no key changed.
bool is_as_published(const ExperimentDocument& document);

/// A line that says why they are not.
std::string not_comparable_text(const ExperimentDocument& document);

/// Puts a figure's published values next to ours, in its text, its disagreements and what is
/// undecided (verdict.h).
/// @param divide  a number on whose other side ours would say the contrary.
void compare_with_published(const ExperimentResults& results,
                            const ExperimentFigure& figure,
                            const OwnValue& own,
                            FigureContent& content,
                            std::optional<double> divide = {});

/// @throws ConfigError where a figure of the experiment is in the folder that was made at another
///         scale or with other keys changed; OutputError for files of their names that are none.
///         Not for what may be replaced.
void refuse_other_figures(const std::filesystem::path& folder,
                          const ExperimentDocument& document,
                          io::Overwrite overwrite);

/// The figure's three files: NAME.h5, NAME.svg and NAME.md, replacing those that are there.
/// @throws OutputError.
void write_figure(const std::filesystem::path& folder,
                  const ExperimentResults& results,
                  const ExperimentFigure& figure,
                  const FigureContent& content,
                  const std::string& command);

}  // namespace hesscope::detail
