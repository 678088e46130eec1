// SPDX-License-Identifier: BSD-3-Clause
#include "analysis_ending.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/shell.h>
#include <hesscope/figures/figure_registry.h>
#include <hesscope/plot/scale.h>

#include "number_tables.h"
#include "sparkline.h"
#include "table.h"

namespace hesscope::cli {
namespace {

constexpr std::size_t kMostRows = 12;

// The most informative numbers come first, because a narrow terminal cuts off the others. Numbers
// without an analyzer belong to the checkpoint itself.
constexpr std::pair<const char*, const char*> kNumbers[] = {
    {"spectrum", "lambda_max"},
    {"", "loss"},
    {"condition", "robust_eigenvalue"},
    {"spectrum", "lambda_min"},
    {"spectrum", "num_negative"},
    {"", "gradient_norm"},
};

// The eigenvalues of the chosen checkpoints; empty if the result does not have all of them.
std::vector<std::vector<double>> spectra_of(const io::ResultReader& file,
                                            const std::vector<std::size_t>& chosen) {
  std::vector<std::vector<double>> spectra;
  const auto* listed = file.find("spectrum", "eigenvalues");
  if (listed == nullptr || listed->shape.size() != 2) return spectra;
  for (const std::size_t row : chosen) {
    spectra.push_back(file.read_double_slice("spectrum", "eigenvalues", row));
  }
  return spectra;
}

using Rows = std::vector<std::vector<std::string>>;

void add_spectra(Rows& rows,
                 const std::vector<std::vector<double>>& spectra,
                 const Terminal& terminal) {
  std::vector<double> all;
  for (const auto& spectrum : spectra) all.insert(all.end(), spectrum.begin(), spectrum.end());
  std::erase_if(all, [](double value) { return !std::isfinite(value); });
  if (all.empty()) return;
  const plot::Scale scale = plot::enclosing_scale(plot::ScaleKind::kSignedLog, all, 0);
  const std::size_t width = std::clamp<std::size_t>(terminal.columns / 3, 12, 32);
  rows[0].push_back(sparkline_ruler(scale, width));
  for (std::size_t i = 0; i < spectra.size(); ++i) {
    rows[i + 1].push_back(sparkline(scale, spectra[i], width, terminal.has_unicode));
  }
}

// Adds a column of a table with all checkpoints; does nothing if there is no such column.
void add_column(Rows& rows,
                const Rows& table,
                const std::vector<std::size_t>& chosen,
                const std::string& name) {
  const auto found = std::find(table[0].begin(), table[0].end(), name);
  if (found == table[0].end()) return;
  const auto column = static_cast<std::size_t>(found - table[0].begin());
  rows[0].push_back(name);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    rows[i + 1].push_back(table[chosen[i] + 1][column]);
  }
}

// The headline numbers of an analyzer at all checkpoints, below their names.
Rows headline_rows(const AnalysisResult& result, const std::string& analyzer) {
  Rows rows(1);
  for (const HeadlineNumber& number : result.checkpoints.front().numbers) {
    if (number.analyzer == analyzer) rows[0].push_back(number.name);
  }
  for (const CheckpointSummary& checkpoint : result.checkpoints) {
    rows.emplace_back();
    for (const HeadlineNumber& number : checkpoint.numbers) {
      if (number.analyzer == analyzer) rows.back().push_back(cell_text(number));
    }
  }
  return rows;
}

// A file name next to the result that does not exist yet.
std::filesystem::path fresh_name(const std::filesystem::path& beside, const std::string& ending) {
  for (int count = 1;; ++count) {
    const std::string number = count == 1 ? "" : fmt::format("-{}", count);
    const auto dot = ending.rfind('.');
    std::filesystem::path name = beside;
    name.replace_filename(beside.stem().string() + ending.substr(0, dot) + number +
                          ending.substr(dot));
    std::error_code none;
    if (!std::filesystem::exists(std::filesystem::symlink_status(name, none))) return name;
  }
}

// A path as an argument that cannot be taken for an option.
std::string path_word(const std::filesystem::path& path) {
  const std::string text = path.string();
  return pasted_word(text.starts_with('-') ? "./" + text : text);
}

// The figure of the spectrum, or else the first one that can be drawn; empty if there is none.
std::string telling_figure(const io::ResultReader& file) {
  const std::vector<std::string> drawable = figures::drawable_figures(file);
  if (drawable.empty()) return {};
  const bool has_spectrum = std::ranges::find(drawable, "spectrum") != drawable.end();
  return has_spectrum ? "spectrum" : drawable.front();
}

}  // namespace

std::string overview_text(const AnalysisResult& result,
                          const io::ResultReader& file,
                          const Terminal& terminal) {
  const std::size_t count = result.checkpoints.size();
  const std::vector<std::size_t> chosen = plot::evenly_spread(count, kMostRows);
  const Rows losses = loss_rows(result.checkpoints);
  Rows rows = {{chosen.size() < count ? fmt::format("{} of {}", chosen.size(), count) : ""}};
  for (const std::size_t row : chosen) rows.push_back({losses[row + 1][0]});
  add_spectra(rows, spectra_of(file, chosen), terminal);
  const bool has_spectra = rows[0].size() > 1;
  for (const auto& [analyzer, name] : kNumbers) {
    const bool is_of_checkpoint = std::string_view(analyzer).empty();
    add_column(rows, is_of_checkpoint ? losses : headline_rows(result, analyzer), chosen, name);
  }
  fit_table(rows, terminal.columns, false);
  std::string text = table_text(rows, has_spectra ? 2 : 1);
  if (has_spectra) {
    text += "bars: how many eigenvalues there are, by size; logarithmic on both sides of zero\n";
  }
  return text;
}

std::string next_commands_text(const io::ResultReader& file, const std::string& output) {
  const std::string program = pasted_word(program_invocation_name);
  std::vector<std::string> commands;
  if (const std::string figure = telling_figure(file); !figure.empty()) {
    commands.push_back(fmt::format("{} plot {} --figure {} -o {}",
                                   program,
                                   path_word(output),
                                   figure,
                                   path_word(fresh_name(output, "-" + figure + ".svg"))));
  }
  commands.push_back(fmt::format(
      "{} report {} -o {}", program, path_word(output), path_word(fresh_name(output, ".html"))));
  std::string text = "Next:\n";
  for (const std::string& command : commands) text += "  " + command + "\n";
  return text;
}

}  // namespace hesscope::cli
