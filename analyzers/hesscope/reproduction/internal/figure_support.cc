// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <optional>
#include <regex>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/plot/markup.h>
#include <hesscope/plot/shared_axes.h>
#include <hesscope/reproduction/internal/figure_support.h>
#include <hesscope/reproduction/internal/verdict.h>

namespace hesscope::detail {
namespace {

const char* const kAsWritten = "as the experiment file has it";

std::string place_text(const PublishedValue& value) {
  std::string text = value.variant;
  if (!value.run.empty()) text += ", " + value.run;
  if (!value.quantity.empty()) text += ", " + value.quantity;
  if (value.step) text += fmt::format(", step {}", *value.step);
  return text;
}

// "1.5e-07" for a drawing: 1.5 times a raised power of ten.
std::string with_powers(const std::string& text) {
  static const std::regex kPower("([0-9])e([-+])0*([0-9]+)");
  std::string drawn;
  auto from = text.cbegin();
  for (std::sregex_iterator it(text.begin(), text.end(), kPower), end; it != end; ++it) {
    drawn.append(from, (*it)[0].first);
    drawn += fmt::format("{}\u00d710^{{{}{}}}",
                         (*it)[1].str(),
                         (*it)[2].str() == "-" ? "\u2212" : "",
                         (*it)[3].str());
    from = (*it)[0].second;
  }
  drawn.append(from, text.cend());
  return drawn;
}

// Our number, if the figure has the value's variant and run.
SeedStatistics own_value(const ExperimentFigure& figure,
                         const PublishedValue& value,
                         const OwnValue& own) {
  const std::optional<std::size_t> variant = index_of(figure.variants, value.variant);
  const std::optional<std::size_t> run = index_or_first(figure.runs, value.run);
  return variant && run ? own(value, *variant, *run) : SeedStatistics();
}

// Markup as plain text: "W^{Q}" becomes "W^Q".
std::string on_one_line(const std::string& text) {
  std::string line;
  for (const plot::TextRun& run : plot::parse_markup(text)) {
    if (run.level == plot::TextRun::Level::kRaised) line += "^";
    if (run.level == plot::TextRun::Level::kLowered) line += "_";
    line += run.text;
  }
  return line;
}

}  // namespace

SettingKey quantity_key(const std::string& name) {
  return {.name = name, .meaning = "GROUP/NAME, as in history/loss or condition/classical"};
}

SettingKey scale_key(const std::string& name, const std::string& fallback) {
  return {.name = name,
          .meaning = "of the axis",
          .choices = {"linear", "log", "signed-log"},
          .fallback = SettingValue(fallback)};
}

plot::ScaleKind scale_from(const ExperimentFigure& figure, const std::string& key) {
  const std::string& name = figure.settings.text(key);
  return name == "log"          ? plot::ScaleKind::kLog
         : name == "signed-log" ? plot::ScaleKind::kSignedLog
                                : plot::ScaleKind::kLinear;
}

Dimension named_dimension(const std::string& name, const std::vector<std::string>& labels) {
  return {.name = name,
          .size = std::ssize(labels),
          .labels = labels,
          .long_name = name,
          .definition = kAsWritten};
}

Dimension numbered_dimension(const std::string& name, const std::vector<std::int64_t>& numbers) {
  return {.name = name,
          .size = std::ssize(numbers),
          .numbers = numbers,
          .long_name = name,
          .definition = kAsWritten};
}

Dimension variant_dimension(const ExperimentFigure& figure) {
  return named_dimension("variant", figure.variants);
}

Dimension run_dimension(const ExperimentFigure& figure) {
  return named_dimension("run", figure.runs);
}

Dimension seed_dimension(const std::vector<std::uint64_t>& seeds) {
  return numbered_dimension("seed", {seeds.begin(), seeds.end()});
}

void add_statistics(const std::vector<std::string>& dimensions,
                    const std::string& of,
                    std::span<const SeedStatistics> statistics,
                    Group& data) {
  std::vector<double> counts;
  std::vector<double> means;
  std::vector<double> deviations;
  for (const SeedStatistics& one : statistics) {
    counts.push_back(static_cast<double>(one.count));
    means.push_back(one.mean);
    deviations.push_back(one.deviation);
  }
  data.add({.name = "count",
            .dimensions = dimensions,
            .long_name = "number of seeds",
            .definition = "of finite " + of,
            .values = std::move(counts)});
  data.add({.name = "mean",
            .dimensions = dimensions,
            .long_name = "mean over seeds",
            .definition = "mean of the finite " + of,
            .values = std::move(means)});
  data.add({.name = "standard_deviation",
            .dimensions = dimensions,
            .long_name = "standard deviation over seeds",
            .definition = fmt::format("of the finite {}, with count - 1 in the denominator", of),
            .values = std::move(deviations)});
}

std::string panel_title(const ExperimentResults& results,
                        const ExperimentFigure& figure,
                        const std::string& variant) {
  return figure.variants.size() == 1 ? "" : results.variant(variant).title;
}

std::string panel_title(const ExperimentResults& results,
                        const ExperimentFigure& figure,
                        const std::string& variant,
                        const std::string& run) {
  std::string title = panel_title(results, figure, variant);
  if (figure.runs.size() == 1) return title;
  return title + (title.empty() ? "" : ", ") + results.run_title(run);
}

void add_marks(const ExperimentFigure& figure, plot::Panel& panel) {
  for (const FigureMark& mark : figure.marks) {
    panel.series.emplace_back(plot::Reference{.kind = plot::Reference::Kind::kVertical,
                                              .intercept = static_cast<double>(mark.step),
                                              .label = mark.name});
  }
}

RunTable::RunTable(const ExperimentResults& results,
                   const ExperimentFigure& figure,
                   std::vector<std::string> headings)
    : results_(results), figure_(figure) {
  std::vector<std::string> row;
  if (figure.variants.size() > 1) row.emplace_back("variant");
  if (figure.runs.size() > 1) row.emplace_back("run");
  row.insert(row.end(), headings.begin(), headings.end());
  rows_.push_back(std::move(row));
}

void RunTable::add(const std::string& variant,
                   const std::string& run,
                   std::vector<std::string> cells) {
  std::vector<std::string> row = titles_of(variant, run);
  row.insert(row.end(), cells.begin(), cells.end());
  rows_.push_back(std::move(row));
}

std::vector<std::string> RunTable::titles_of(const std::string& variant,
                                             const std::string& run) const {
  std::vector<std::string> titles;
  if (figure_.variants.size() > 1) titles.push_back(results_.variant(variant).title);
  if (figure_.runs.size() > 1) titles.push_back(results_.run_title(run));
  return titles;
}

plot::Figure table_figure(const ExperimentFigure& figure,
                          const std::vector<std::vector<std::string>>& rows) {
  plot::Table table;
  for (const std::vector<std::string>& row : rows) {
    table.rows.emplace_back();
    for (const std::string& text : row) table.rows.back().push_back(with_powers(text));
  }
  plot::Panel panel;
  panel.table = std::move(table);
  plot::Figure drawn;
  drawn.title = figure.title;
  drawn.panels.push_back(std::move(panel));
  return drawn;
}

void finish_panels(const ExperimentFigure& figure, plot::Figure& drawn) {
  if (drawn.panels.size() < 2) return;
  if (figure.kind->has_equal_axes && figure.settings.boolean("share_scales")) {
    plot::share_axes(drawn);
  }
  constexpr std::size_t kLetters = 26;
  if (drawn.panels.size() > kLetters) return;
  char letter = 'a';
  for (plot::Panel& panel : drawn.panels) {
    panel.title = fmt::format("({}){}{}", letter++, panel.title.empty() ? "" : " ", panel.title);
  }
}

std::string markdown_table(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += "|";
    for (const std::string& cell : rows[i]) text += fmt::format(" {} |", on_one_line(cell));
    text += "\n";
    if (i > 0) continue;
    for (std::size_t c = 0; c < rows[0].size(); ++c) text += c == 0 ? "|---|" : "--:|";
    text += "\n";
  }
  return text;
}

std::optional<std::size_t> index_of(const std::vector<std::string>& names,
                                    const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

std::optional<std::size_t> index_or_first(const std::vector<std::string>& names,
                                          const std::string& name) {
  return index_of(names, name.empty() && !names.empty() ? names.front() : name);
}

std::vector<std::string> own_quantity(const ExperimentFigure& figure) {
  return {figure.settings.text("quantity")};
}

bool is_as_published(const ExperimentDocument& document) {
  return document.scale == "paper" && document.overrides.empty();
}

std::string not_comparable_text(const ExperimentDocument& document) {
  return fmt::format("\nAt the scale '{}'{} our numbers are not comparable.\n",
                     document.scale,
                     document.overrides.empty() ? "" : " and with keys changed");
}

void compare_with_published(const ExperimentResults& results,
                            const ExperimentFigure& figure,
                            const OwnValue& own,
                            FigureContent& content,
                            std::optional<double> divide) {
  if (figure.published_values.empty()) return;
  const ExperimentDocument& document = results.document();
  const bool is_comparable = is_as_published(document);
  std::vector<std::vector<std::string>> rows = {{"where", "theirs", "ours", "seeds", "", "source"}};
  for (const PublishedValue& value : figure.published_values) {
    const SeedStatistics ours = own_value(figure, value, own);
    const Verdict says = is_comparable ? verdict(value, ours, divide) : Verdict{.text = "-"};
    if (is_comparable && ours.count > 0) ++content.num_compared;
    const std::string number = published_text(value);
    rows.push_back({place_text(value),
                    number,
                    mean_text(ours),
                    fmt::format("{}", ours.count),
                    says.text,
                    value.source});
    const std::string line = fmt::format(
        "{}: {} ({}), ours {}", place_text(value), number, value.source, mean_text(ours));
    if (says.agreement == Agreement::kDisagrees) content.disagreements.push_back(line);
    if (says.agreement == Agreement::kUndecided) content.undecided.push_back(line);
  }
  content.text += "\n## Numbers of others beside ours\n\n" + markdown_table(rows);
  content.comparison = std::move(rows);
  content.comparison.front()[4] = "verdict";
  content.text += is_comparable
                      ? fmt::format(
                            "\nMean (standard deviation over seeds; standard error that the "
                            "choice of samples leaves, where it was asked for). {}\n",
                            kVerdictRule)
                      : not_comparable_text(document);
}

}  // namespace hesscope::detail
