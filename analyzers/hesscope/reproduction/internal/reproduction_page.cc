// SPDX-License-Identifier: BSD-3-Clause
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/ascii.h>
#include <hesscope/reproduction/internal/reproduction_page.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/storage/overwrite.h>
#include <hesscope/storage/unit_folder.h>

namespace hesscope::detail {
namespace {

// Letters, digits and hyphens of a name; different names may give the same id.
std::string id_of(const std::string& name) {
  std::string id;
  for (const char c : name) id += is_letter_or_digit(c) ? c : '-';
  return id;
}

// Makes the ids of one page distinct: a repeated id gets a number.
class DistinctIds {
 public:
  void make_distinct(std::string& id) {
    const std::string name = id;
    for (int count = 2; !given_.insert(id).second; ++count) {
      id = fmt::format("{}-{}", name, count);
    }
  }

 private:
  std::set<std::string> given_;
};

std::string sentence(const std::string& text) {
  return text.empty() || text.ends_with('.') ? text : text + ".";
}

}  // namespace

report::Section section_of(const ExperimentDocument& document) {
  report::Section section{.id = "experiment-" + id_of(document.name),
                          .title = document.shown_title()};
  report::Card card{.title = document.name};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) card.facts.push_back({name, value});
  };
  add("Paper", document.paper);
  add("Figures", document.published_figures);
  add("Scale", document.scale);
  add("Changed", fmt::format("{}", fmt::join(document.overrides, ", ")));
  add("What is ours", document.shown_note());
  section.cards.push_back(std::move(card));
  return section;
}

void add_figure(const ExperimentDocument& document,
                const ExperimentFigure& figure,
                const FigureContent& content,
                report::Section& section) {
  const std::string id = fmt::format("{}-{}", id_of(document.name), id_of(figure.name));
  report::Picture picture = report::still(
      "figure-" + id, figure.title.empty() ? figure.name : figure.title, content.figure);
  picture.text = sentence(figure.published);
  if (!figure.published.empty() && !document.paper.empty()) {
    picture.text = sentence(figure.published + " of " + document.paper);
  }
  section.pictures.push_back(std::move(picture));
  for (const std::string& line : content.disagreements) {
    section.warnings.push_back(fmt::format("{} disagrees: {}", figure.name, line));
  }
  if (content.comparison.empty()) return;
  report::Table table{.id = "published-" + id,
                      .title = figure.name + ": published values and ours"};
  for (const std::string& title : content.comparison.front()) {
    table.columns.push_back({.title = title});
  }
  for (std::size_t r = 1; r < content.comparison.size(); ++r) {
    std::vector<report::Cell> row;
    for (const std::string& text : content.comparison[r]) row.push_back({.text = text});
    table.rows.push_back(std::move(row));
  }
  section.tables.push_back(std::move(table));
}

void refuse_other_page(const std::filesystem::path& folder, io::Overwrite overwrite) {
  const io::Overwrite allowed =
      overwrite == io::Overwrite::kAnything ? overwrite : io::Overwrite::kOwnKind;
  const std::filesystem::path path = folder / kPageName;
  io::require_replaceable(
      path, allowed, "a report", [&] { return io::begins_with(path, {report::kFirstLines}); });
}

void write_page(const std::filesystem::path& folder, std::vector<report::Section> sections) {
  DistinctIds ids;
  for (report::Section& section : sections) {
    ids.make_distinct(section.id);
    for (report::Picture& picture : section.pictures) ids.make_distinct(picture.id);
    for (report::Table& table : section.tables) ids.make_distinct(table.id);
  }
  const report::Page page{.title = "Reproduced figures",
                          .subtitle = "Published values stand beside ours where a paper has them.",
                          .sections = std::move(sections)};
  io::remove_remnants(folder / kPageName);
  io::write_whole(folder / kPageName, report::to_html(page), io::Existing::kReplace);
}

}  // namespace hesscope::detail
