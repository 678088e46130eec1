// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/figures/figure_registry.h>
#include <hesscope/plot/svg.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/storage/overwrite.h>

#include "commands.h"
#include "json_document.h"
#include "result_input.h"
#include "run_options.h"
#include "standard_streams.h"
#include "table.h"

namespace hesscope::cli {
namespace {

const char* const kAuto = "auto";
const std::vector<std::string> kScales = {kAuto, "linear", "log", "signed-log"};

std::optional<plot::ScaleKind> parse_scale(const std::string& name) {
  if (name == "linear") return plot::ScaleKind::kLinear;
  if (name == "log") return plot::ScaleKind::kLog;
  if (name == "signed-log") return plot::ScaleKind::kSignedLog;
  return std::nullopt;
}

SettingKey whole_number(const std::string& name,
                        std::int64_t minimum,
                        std::int64_t maximum,
                        const std::string& meaning) {
  return {.name = name,
          .type = SettingKey::Type::kInteger,
          .meaning = meaning,
          .minimum = minimum,
          .maximum = maximum};
}

class PlotCommand final : public Command {
 public:
  std::string name() const override { return "plot"; }

  std::string summary() const override { return "A figure for a paper, as SVG"; }

  std::vector<std::string> examples() const override {
    return {
        "hesscope plot result.h5 --list",
        "hesscope plot result.h5 --figure eigenvalues -o eigenvalues.svg",
        "hesscope plot sgdm.h5 adam.h5 --figure condition --label SGDM --label Adam -o kappa.svg",
        "hesscope plot landscape.h5 --figure landscape --quantity lambda_max -o surface.svg",
    };
  }

  void declare(OptionTable& options) override {
    std::string kinds = "What to draw";
    for (const figures::FigureKind& kind : figures::figure_kinds()) {
      kinds += fmt::format("\n{}: {}", kind.name, kind.summary);
    }
    options.group("Input");
    options.positionals("RESULT", results_, "Result files; several are laid over one another")
        .required();
    options.group("Output");
    options.text("-o,--output", output_, "FILE", "SVG file to write");
    force_.declare(options, "Replace an existing SVG");
    options.flag("--list", list_, "Print which figures the results have the data for");
    options.flag("--json", json_, "Print one JSON document on stdout");
    options.flag("-q,--quiet", quiet_, "Print nothing");
    options.group("Figure");
    options.text("--figure", figure_, "NAME", kinds);
    options.text("--quantity", quantity_, "NAME", "Which of the figure's quantities to show");
    options.setting(
        whole_number("step", 0, INT64_MAX, "the checkpoint to show (default: the last)"), numbers_);
    options.group("Style");
    options.repeated("--label",
                     labels_,
                     "TEXT",
                     "Name of a result in the legend; once for each, in their order");
    options.text("--title", title_, "TEXT", "A title; ^{...} and _{...} raise and lower");
    options.choice("--x-scale", x_scale_, kScales, "Scale of the horizontal axes");
    options.choice("--y-scale", y_scale_, kScales, "Scale of the vertical axes");
    options.setting(whole_number("width", 60, 5000, "width in points, 72 to the inch"), numbers_);
    options.setting(whole_number("height", 60, 5000, "height in points, 72 to the inch"), numbers_);
  }

  ExitCode run() override {
    require_consistent();
    std::vector<io::ResultReader> readers;
    readers.reserve(results_.size());
    for (const std::string& file : results_) readers.push_back(open_result(file));
    if (!list_) return draw(readers);
    print_list(readers);
    return ExitCode::kDone;
  }

 private:
  void require_consistent() const {
    if (!labels_.empty() && labels_.size() != results_.size()) {
      throw ConfigError(
          fmt::format("'--label' must be given once for each of the {} results, got {}",
                      results_.size(),
                      labels_.size()));
    }
    if (list_) return;
    if (figure_.empty()) throw ConfigError("'--figure' is missing; --list names those there are");
    if (output_.empty()) throw ConfigError("'--output' is missing");
    if (std::filesystem::path(output_).extension() != ".svg") {
      throw ConfigError(fmt::format(
          "{}: figures are SVG: the output must end in .svg; rsvg-convert and inkscape turn it "
          "into PDF or PNG",
          output_));
    }
    for (const std::string& file : results_) {
      std::error_code none;
      if (std::filesystem::equivalent(file, output_, none)) {
        throw ConfigError(fmt::format("{}: the output is a result itself; name another", output_));
      }
    }
  }

  std::int64_t number(const char* key, std::int64_t fallback) const {
    const auto found = numbers_.find(key);
    return found == numbers_.end() ? fallback : std::get<std::int64_t>(found->second);
  }

  ExitCode draw(const std::vector<io::ResultReader>& readers) const {
    const figures::FigureKind& kind = figures::find_figure_kind(figure_);
    const std::vector<std::string> labels =
        labels_.empty() ? short_names({results_.begin(), results_.end()}, false) : labels_;
    std::vector<figures::Source> sources;
    for (std::size_t i = 0; i < readers.size(); ++i) sources.push_back({&readers[i], labels[i]});
    figures::FigureRequest request;
    request.quantity = quantity_;
    if (numbers_.contains("step")) request.step = number("step", 0);
    request.x_scale = parse_scale(x_scale_);
    request.y_scale = parse_scale(y_scale_);
    request.title = title_;
    request.width = static_cast<double>(number("width", 0));
    request.height = static_cast<double>(number("height", 0));
    const plot::Figure figure = figures::draw_figure(kind, sources, request);
    io::require_replaceable(output_, force_.overwrite(), "an SVG", [&] {
      return io::begins_with(output_, {"<svg", "<?xml"});
    });
    io::write_whole(output_, plot::to_svg(figure), force_.overwrite() != io::Overwrite::kNothing);
    if (json_) {
      Json document;
      document["command"] = "plot";
      document["results"] = results_;
      document["figure"] = kind.name;
      document["output"] = output_;
      print_json(document);
    } else if (!quiet_) {
      print_text("written to {}\n", output_);
    }
    if (plot::has_numbers(figure)) return ExitCode::kDone;
    print_message(
        "hesscope plot: warning: {}: there is nothing to see: every number is missing; "
        "variables NAME_status in the result say why\n",
        output_);
    return ExitCode::kInconclusive;
  }

  void print_list(const std::vector<io::ResultReader>& readers) const {
    Json figures = Json::list();
    std::vector<std::vector<std::string>> there = {{"figure", "shows", "quantities"}};
    std::vector<std::vector<std::string>> missing = {{"not in the data", "stored by"}};
    for (const figures::FigureKind& kind : figures::figure_kinds()) {
      const bool has_data =
          std::all_of(readers.begin(), readers.end(), [&](const io::ResultReader& reader) {
            return figures::can_draw(kind, reader);
          });
      figures.push_back({{"name", kind.name},
                         {"summary", kind.summary},
                         {"has_data", has_data},
                         {"takes_several", kind.takes_several},
                         {"quantities", kind.quantities},
                         {"made_by", command_of(kind.made_by)}});
      if (has_data) {
        there.push_back(
            {kind.name, kind.summary, fmt::format("{}", fmt::join(kind.quantities, ", "))});
      } else {
        missing.push_back({kind.name, command_of(kind.made_by)});
      }
    }
    if (json_) {
      print_json({{"command", "plot"}, {"results", results_}, {"figures", figures}});
    } else if (!quiet_) {
      if (there.size() > 1) print_text("{}", table_text(there, 3));
      if (there.size() > 1 && missing.size() > 1) print_text("\n");
      if (missing.size() > 1) print_text("{}", table_text(missing, 2));
    }
  }

  std::vector<std::string> results_;
  std::string figure_;
  std::string output_;
  std::vector<std::string> labels_;
  std::string quantity_;
  std::string title_;
  std::string x_scale_ = kAuto;
  std::string y_scale_ = kAuto;
  std::map<std::string, SettingValue> numbers_;
  bool list_ = false;
  ForceOption force_;
  bool json_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plot_command() { return std::make_unique<PlotCommand>(); }

}  // namespace hesscope::cli
