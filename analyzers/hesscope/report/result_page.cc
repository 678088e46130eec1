// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/core/error.h>
#include <hesscope/figures/internal/figure_data.h>
#include <hesscope/report/internal/result_parts.h>
#include <hesscope/report/result_page.h>

namespace hesscope::report {
namespace {

using figures::Source;
using figures::Topic;

struct TopicSection {
  Topic topic;
  const char* id;
  const char* title;
  const char* text;
};

constexpr TopicSection kTopics[] = {
    {Topic::kTraining, "training", "Training", ""},
    {Topic::kSpectrum,
     "spectrum",
     "Spectrum of the Hessian",
     "All eigenvalues are exact to rounding unless they are marked as not proved."},
    {Topic::kSmoothness, "smoothness", "Smoothness against gradient norm", ""},
    {Topic::kStability,
     "stability",
     "Stability of the optimiser",
     "A ratio is the sharpness over the largest at which the optimiser is stable on a quadratic, "
     "2/lr for gradient descent: above 1 it is unstable."},
    {Topic::kBlocks, "blocks", "Parameter blocks", ""},
    {Topic::kNoise, "noise", "Gradient noise", ""},
    {Topic::kInfluence,
     "influence",
     "Influence of samples",
     "What leaving out a sample changes, to first order, at a checkpoint that is a critical point "
     "of the loss."},
    {Topic::kLandscape, "landscape", "Landscape", ""},
};

std::string text_of(const AttributeValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return v;
        } else if constexpr (std::is_arithmetic_v<T>) {
          return fmt::format("{}", v);
        } else {
          return {};
        }
      },
      value);
}

bool has_any(const Section& section) {
  return !section.pictures.empty() || !section.tables.empty() || !section.cards.empty();
}

bool has_diverged(const Source& source) { return detail::is_of_diverged_run(*source.result); }

// Whether a result says that numbers are missing. The history of a run that has only diverged does
// not.
bool is_inconclusive(const Source& source) {
  if (has_diverged(source)) return !detail::warnings_of_result(*source.result).empty();
  return source.result->find_attribute("", detail::kConclusive) != nullptr &&
         !detail::is_conclusive_result(*source.result);
}

Section overview_of(std::span<const Source> sources) {
  Section section{.id = "overview", .title = "Results"};
  for (const Source& source : sources) section.cards.push_back(provenance_of(source));
  return section;
}

Section gap_section_of(std::span<const Source> sources) {
  Section section{.id = "missing",
                  .title = "What is missing",
                  .text =
                      "Numbers that are not there, or not proved, and why. No figure shows them "
                      "as if they were."};
  section.tables.push_back(gaps_of(sources));
  if (!section.tables.front().rows.empty()) return section;
  const bool is_unusual =
      std::ranges::any_of(sources, is_inconclusive) || std::ranges::any_of(sources, has_diverged);
  section.text = is_unusual
                     ? "No number, but not all that was asked for came out as it should: the "
                       "warnings of the results say what did not."
                     : "Nothing: every number that was asked for is there, with its proof.";
  section.tables.clear();
  return section;
}

Section numbers_section_of(std::span<const Source> sources) {
  Section section{.id = "tables", .title = "Numbers"};
  std::vector<std::string> groups;
  for (const Source& source : sources) {
    for (const Group& group : source.result->groups()) {
      if (std::ranges::find(groups, group.name) == groups.end()) groups.push_back(group.name);
    }
  }
  for (const std::string& group : groups) {
    for (Table table : {numbers_of(group, sources), run_numbers_of(group, sources)}) {
      if (!table.rows.empty() || !table.text.empty()) section.tables.push_back(std::move(table));
    }
  }
  for (std::size_t i = 0; i < section.tables.size(); ++i) {
    section.tables[i].id = fmt::format("table-{}", i + 1);
  }
  return section;
}

}  // namespace

Card provenance_of(const Source& source) {
  const io::ResultReader& result = *source.result;
  Card card{.title = source.label};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) card.facts.push_back({name, value});
  };
  const auto attribute = [&](const char* name) {
    const AttributeValue* const value = result.find_attribute("", name);
    return value == nullptr ? std::string() : text_of(*value);
  };
  add("File", result.path().filename().string());
  add("What", attribute("title"));
  add("Made by", attribute("source"));
  add("Command", attribute("history"));
  add("Problem", attribute("problem"));
  add("Samples", attribute("num_samples"));
  add("Data, SHA-256", attribute("data_sha256"));
  add("Seed", attribute("seed"));
  if (const Variable* const step = result.find("", "step");
      step != nullptr && step->shape.size() == 1 && step->shape[0] > 0) {
    const figures::Checkpoints checkpoints = figures::read_checkpoints(source);
    const std::size_t last = checkpoints.size() - 1;
    add("Checkpoints",
        last == 0 ? "1, " + checkpoints.name_of(0)
                  : fmt::format("{}, {} to {}",
                                checkpoints.size(),
                                checkpoints.name_of(0),
                                checkpoints.name_of(last)));
  }
  card.warnings = detail::warnings_of_result(result);
  if (has_diverged(source)) {
    card.warnings.emplace_back("the run has diverged: its loss was no longer a finite number");
  }
  if (is_inconclusive(source)) {
    card.warnings.emplace_back("not every number could be found and proved; see What is missing");
  }
  return card;
}

Page result_page(std::span<const Source> sources, const std::string& title) {
  if (sources.empty()) throw PreconditionError("result_page: needs at least one result");
  Page page{.title = title};
  page.sections.push_back(overview_of(sources));
  for (const TopicSection& topic : kTopics) {
    Section section{.id = topic.id, .title = topic.title, .text = topic.text};
    for (const figures::FigureKind& kind : figures::figure_kinds()) {
      if (kind.topic != topic.topic) continue;
      for (Picture& picture : pictures_of(kind, sources)) {
        section.pictures.push_back(std::move(picture));
      }
    }
    if (has_any(section)) page.sections.push_back(std::move(section));
  }
  page.sections.push_back(gap_section_of(sources));
  Section numbers = numbers_section_of(sources);
  if (has_any(numbers)) page.sections.push_back(std::move(numbers));
  page.definitions = definitions_of(sources);
  return page;
}

}  // namespace hesscope::report
