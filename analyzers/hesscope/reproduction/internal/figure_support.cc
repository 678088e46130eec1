// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

plot::Figure table_figure(const ExperimentFigure& figure,
                          const std::vector<std::vector<std::string>>& rows) {
  plot::Panel panel;
  panel.table = plot::Table{.rows = rows};
  std::size_t num_letters = 0;  // of a line
  for (std::size_t column = 0; column < rows.front().size(); ++column) {
    std::size_t longest = 0;
    for (const auto& row : rows) longest = std::max(longest, row[column].size());
    num_letters += longest + 3;
  }
  plot::Figure drawn;
  drawn.title = figure.title;
  drawn.panels.push_back(std::move(panel));
  drawn.width = std::max({240.0,
                          5.0 * static_cast<double>(num_letters),
                          7.0 * static_cast<double>(figure.title.size())});
  drawn.height = 40 + 13 * static_cast<double>(rows.size());
  return drawn;
}

std::string markdown_table(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += fmt::format("| {} |\n", fmt::join(rows[i], " | "));
    if (i > 0) continue;
    for (std::size_t c = 0; c < rows[0].size(); ++c) text += c == 0 ? "|---|" : "--:|";
    text += "\n";
  }
  return text;
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
    const SeedStatistics ours = own(value);
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
