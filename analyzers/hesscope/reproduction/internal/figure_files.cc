// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/analysis/internal/checkpoint_inputs.h>
#include <hesscope/analysis/internal/checkpoint_result.h>
#include <hesscope/analysis/internal/result_reading.h>
#include <hesscope/core/error.h>
#include <hesscope/dataset/result_file.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/plot/svg.h>
#include <hesscope/reproduction/internal/figure_support.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/storage/unit_folder.h>

namespace hesscope::detail {
namespace {

const char* const kScale = "scale";
const char* const kOverrides = "overrides";

std::string overrides_text(const ExperimentDocument& document) {
  return fmt::format("{}", fmt::join(document.overrides, "\n"));
}

// The options of a request, as messages name them.
std::string options_text(const std::string& scale, std::string overrides) {
  std::string text = "`scale` " + scale;
  if (overrides.empty()) return text;
  for (std::size_t i = 0; (i = overrides.find('\n', i)) != std::string::npos;) {
    overrides.replace(i, 1, " `overrides` ");
  }
  return text + " `overrides` " + overrides;
}

void write_data(const std::filesystem::path& path,
                const ExperimentDocument& document,
                const ExperimentFigure& figure,
                const FigureContent& content,
                const std::string& command) {
  io::ResultFile file(path, {.existing = io::Existing::kReplace});
  set_provenance(
      file, fmt::format("hesscope figure {} of {}", figure.name, document.name), command);
  const auto attribute = [&](const char* name, const std::string& value) {
    if (!value.empty()) file.set_attribute("", {name, value});
  };
  attribute("experiment_name", document.name);
  attribute("experiment_title", document.title);
  attribute("experiment_paper", document.paper);
  attribute("experiment_note", document.note);
  attribute(kScale, document.scale);
  attribute(kOverrides, overrides_text(document));
  attribute("figure_title", figure.title);
  attribute("published", figure.published);
  for (const auto& [key, value] : figure.settings.values()) {
    attribute(("figure_" + key).c_str(), text_of(value));
  }
  file.set_attribute("", {"complete", std::int8_t{1}});
  file.write(content.data);
  file.commit();
}

std::string text_of_figure(const ExperimentResults& results,
                           const ExperimentFigure& figure,
                           const FigureContent& content) {
  const ExperimentDocument& document = results.document();
  std::string text = fmt::format("# {}\n\n", figure.title.empty() ? figure.name : figure.title);
  if (!figure.published.empty()) {
    text += fmt::format(
        "{}{}\n\n", figure.published, document.paper.empty() ? "" : " of " + document.paper);
  }
  text += fmt::format("Experiment `{}`", document.name);
  if (!document.title.empty()) text += fmt::format(" ({})", document.title);
  text += fmt::format(", scale `{}`. Numbers: `{}.h5`; drawing: `{}.svg`.\n\n",
                      document.scale,
                      figure.name,
                      figure.name);
  if (!document.overrides.empty()) {
    text +=
        fmt::format("Changed beside the file: `{}`.\n\n", fmt::join(document.overrides, "`, `"));
  }
  text += content.text;
  if (!content.disagreements.empty()) {
    text += "\n## What disagrees\n\n";
    for (const std::string& line : content.disagreements) text += fmt::format("- {}\n", line);
  }
  if (!content.undecided.empty()) {
    text += "\n## What the spreads leave open\n\n";
    for (const std::string& line : content.undecided) text += fmt::format("- {}\n", line);
  }
  std::string diverged;
  for (const TrainedRun& run : results.runs()) {
    if (!run.has_diverged) continue;
    diverged += fmt::format("- variant `{}`, run `{}`, seed {}: diverged in step {}\n",
                            run.variant,
                            run.run,
                            run.seed,
                            run.num_steps + 1);
  }
  if (!diverged.empty()) {
    text += "\n## Diverged\n\n" + diverged +
            "\nFrom there on these take no part in means and spreads.\n";
  }
  if (!document.note.empty()) {
    text += fmt::format("\n## What is ours\n\n{}\n", document.shown_note());
  }
  return text;
}

}  // namespace

void refuse_other_figures(const std::filesystem::path& folder,
                          const ExperimentDocument& document,
                          io::Overwrite overwrite) {
  for (const ExperimentFigure& figure : document.figures) {
    const std::filesystem::path path = folder / (figure.name + ".h5");
    const bool is_figure = is_result_about(path, "figure");
    // The numbers in the same folder identify the drawing and the text.
    for (const char* extension : {".h5", ".svg", ".md"}) {
      const io::Overwrite allowed =
          overwrite == io::Overwrite::kAnything ? overwrite : io::Overwrite::kOwnKind;
      io::require_replaceable(
          folder / (figure.name + extension), allowed, "a figure of hesscope reproduce", [&] {
            return is_figure;
          });
    }
    if (!is_figure || overwrite != io::Overwrite::kNothing) continue;
    const io::ResultReader there(path);
    const auto text = [&](const char* name) {
      const AttributeValue* value = there.find_attribute("", name);
      const auto* found = value == nullptr ? nullptr : std::get_if<std::string>(value);
      return found == nullptr ? std::string() : *found;
    };
    if (text(kScale) == document.scale && text(kOverrides) == overrides_text(document)) continue;
    throw ConfigError(
        fmt::format("{}: was made with {}, this is {}; choose another output, or replace it by "
                    "`Overwrite::kOwnKind`",
                    path.string(),
                    options_text(text(kScale), text(kOverrides)),
                    options_text(document.scale, overrides_text(document))));
  }
}

void write_figure(const std::filesystem::path& folder,
                  const ExperimentResults& results,
                  const ExperimentFigure& figure,
                  const FigureContent& content,
                  const std::string& command) {
  for (const char* extension : {".h5", ".svg", ".md"}) {
    io::remove_remnants(folder / (figure.name + extension));
  }
  write_data(folder / (figure.name + ".h5"), results.document(), figure, content, command);
  io::write_whole(
      folder / (figure.name + ".svg"), plot::to_svg(content.figure), io::Existing::kReplace);
  io::write_whole(folder / (figure.name + ".md"),
                  text_of_figure(results, figure, content),
                  io::Existing::kReplace);
}

}  // namespace hesscope::detail
