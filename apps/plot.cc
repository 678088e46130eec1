// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
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
#include <hesscope/plot/picture_format.h>
#include <hesscope/plot/print.h>
#include <hesscope/storage/atomic_file.h>
#include <hesscope/storage/overwrite.h>

#include "commands.h"
#include "json_document.h"
#include "library_names.h"
#include "result_input.h"
#include "run_options.h"
#include "standard_streams.h"
#include "table.h"

namespace hesscope::cli {
namespace {

const char* const kAuto = "auto";
constexpr double kLeastSize = 60;  // points
constexpr double kMostSize = 5000;
const std::vector<std::string> kScales = {kAuto, "linear", "log", "signed-log"};

std::optional<plot::ScaleKind> parse_scale(const std::string& name) {
  if (name == "linear") return plot::ScaleKind::kLinear;
  if (name == "log") return plot::ScaleKind::kLog;
  if (name == "signed-log") return plot::ScaleKind::kSignedLog;
  return std::nullopt;
}

// The medium of a figure: how large letters and lines are, and the default size of the figure in
// points (0: the figure's own).
struct Style {
  const char* name;
  double magnification;
  double width;
  double height;
};

// A slide of 16:9 is 13.33 x 7.5 inches: letters of 19 to 26 points are readable from the last row.
constexpr std::array<Style, 2> kStyles = {{{"paper", 1, 0, 0}, {"slides", 2.5, 960, 540}}};

// ".svg, .pdf or .png".
std::string extensions_text() {
  std::vector<std::string> extensions;
  for (const plot::PictureFormat& format : plot::picture_formats()) {
    extensions.push_back(format.extension);
  }
  const std::string last = extensions.back();
  extensions.pop_back();
  return fmt::format("{} or {}", fmt::join(extensions, ", "), last);
}

std::vector<std::string> style_names() {
  std::vector<std::string> names;
  for (const Style& style : kStyles) names.emplace_back(style.name);
  return names;
}

class PlotCommand final : public Command {
 public:
  std::string name() const override { return "plot"; }

  std::string summary() const override {
    return "A figure for a paper or a talk, as SVG, PDF or PNG";
  }

  std::string description() const override {
    return "Draws a figure of one or several results. --list says which figures the results have "
           "the "
           "data for. A figure says which numbers are missing.";
  }

  std::vector<std::string> examples() const override {
    return {
        "hesscope plot result.h5 --list",
        "hesscope plot result.h5 --figure eigenvalues -o eigenvalues.svg",
        ("hesscope plot sgdm.h5 adam.h5 --figure condition --label SGDM --label Adam "
         "--width 85mm -o kappa.pdf"),
        "hesscope plot result.h5 --figure spectrum --style slides -o spectrum.png",
        "hesscope plot landscape.h5 --figure landscape --quantity lambda_max -o surface.svg",
    };
  }

  void declare(OptionTable& options) override {
    std::string kinds = "What to draw";
    std::vector<std::string> names;
    for (const figures::FigureKind& kind : figures::figure_kinds()) {
      kinds += fmt::format("\n{}: {}", kind.name, kind.summary);
      names.push_back(kind.name);
    }
    options.group("Input");
    options.positionals("RESULT", results_, "Result files; several are laid over one another")
        .required();
    options.group("Output");
    options.output(
        output_, "FILE", fmt::format("File to write; {} says as what", extensions_text()));
    options
        .integer("--dpi",
                 dpi_,
                 static_cast<int>(plot::kLeastDotsPerInch),
                 static_cast<int>(plot::kMostDotsPerInch),
                 "Resolution of a PNG, in dots per inch (default: 300)")
        .only_with("an output that ends in .png", [this] { return extension() == ".png"; });
    force_.declare(options, "Replace an existing figure of the same format");
    options.flag("--list", list_, "Print which figures the results have the data for").alone();
    options.how_to_print(json_, quiet_);
    options.group("Figure");
    options.text("--figure", figure_, "NAME", kinds).offering(names);
    options.text("--quantity", quantity_, "NAME", "Which of the figure's quantities to show");
    options.setting({.name = "step",
                     .type = SettingKey::Type::kInteger,
                     .meaning = "the checkpoint to show (default: the last)",
                     .minimum = 0},
                    numbers_);
    options.group("Style");
    options.choice("--style",
                   style_,
                   style_names(),
                   "What the letters and lines are large enough for (default: paper); slides are "
                   "960 x 540 points, too, unless a size is given");
    options.repeated("--label",
                     labels_,
                     "TEXT",
                     "Name of a result in the legend; once for each, in their order");
    options.text("--title", title_, "TEXT", "A title; ^{...} and _{...} raise and lower");
    options.choice("--x-scale", x_scale_, kScales, "Scale of the horizontal axes");
    options.choice("--y-scale", y_scale_, kScales, "Scale of the vertical axes");
    options.length("--width",
                   width_,
                   kLeastSize,
                   kMostSize,
                   "Width in points, 72 to the inch, or with a unit: 85mm, 8.5cm, 3.4in");
    options.length("--height", height_, kLeastSize, kMostSize, "Height, likewise");
    options.flag("--no-notes",
                 no_notes_,
                 "Leave out the remarks above plots, such as how many values are missing");
  }

  ExitCode run() override {
    require_consistent();
    const OpenResults results = open_results(results_, labels_);
    if (!list_) return draw(results.sources);
    print_list(results.readers);
    return ExitCode::kDone;
  }

 private:
  void require_consistent() const {
    require_all_labels(results_, labels_);
    if (list_) return;
    if (figure_.empty()) throw UsageError("--figure is required; --list names those there are");
    if (output_.empty()) throw UsageError("--output is required");
    require_no_result(output_, results_);
  }

  std::string extension() const { return std::filesystem::path(output_).extension().string(); }

  const plot::PictureFormat& output_format() const {
    for (const plot::PictureFormat& format : plot::picture_formats()) {
      if (extension() == format.extension) return format;
    }
    throw UsageError(fmt::format("{}: the output must end in {}", output_, extensions_text()));
  }

  const Style& style() const {
    return *std::find_if(
        kStyles.begin(), kStyles.end(), [&](const Style& each) { return each.name == style_; });
  }

  std::string bytes_of(const plot::Figure& figure) const {
    try {
      return output_format().print(figure, dpi_ > 0 ? dpi_ : plot::kUsualDotsPerInch);
    } catch (const OutputError& error) {
      throw OutputError(fmt::format("{}: {}", output_, error.what()));
    }
  }

  ExitCode draw(const std::vector<figures::Source>& sources) const {
    const figures::FigureKind& kind = figures::find_figure_kind(figure_);
    figures::FigureRequest request;
    request.quantity = quantity_;
    if (const auto step = numbers_.find("step"); step != numbers_.end()) {
      request.step = std::get<std::int64_t>(step->second);
    }
    request.x_scale = parse_scale(x_scale_);
    request.y_scale = parse_scale(y_scale_);
    request.title = title_;
    const bool has_size = width_ > 0 || height_ > 0;
    request.width = has_size ? width_ : style().width;
    request.height = has_size ? height_ : style().height;
    request.magnification = style().magnification;
    request.notes = !no_notes_;
    const plot::Figure figure = figures::draw_figure(kind, sources, request);
    const plot::PictureFormat& format = output_format();
    io::require_replaceable(output_, force_.overwrite(), format.kind, [&] {
      return io::begins_with(output_, format.beginnings);
    });
    io::write_whole(output_, bytes_of(figure), io::existing_of(force_.overwrite()));
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
    return report_nothing(kind, sources, figure);
  }

  // Says why a figure shows no number.
  ExitCode report_nothing(const figures::FigureKind& kind,
                          const std::vector<figures::Source>& sources,
                          const plot::Figure& figure) const {
    const bool is_of_scale = plot::has_unplaced_numbers(figure);
    const bool is_undefined = !is_of_scale && figures::lacks_undefined_alone(kind, sources);
    const std::string why =
        is_of_scale
            ? fmt::format("numbers that are not above 0 cannot be shown on a logarithmic axis{}",
                          kind.has_free_scales ? "; --y-scale linear shows them" : "")
            : fmt::format("every number is {}; variables NAME_status in the result say why",
                          is_undefined ? "undefined" : "missing");
    print_message("hesscope plot: warning: {}: there is nothing to see: {}\n", output_, why);
    return is_of_scale || is_undefined ? ExitCode::kDone : ExitCode::kInconclusive;
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
  std::string style_ = kStyles.front().name;
  std::map<std::string, SettingValue> numbers_;
  int dpi_ = 0;  // 0: not given
  double width_ = 0;
  double height_ = 0;
  bool no_notes_ = false;
  bool list_ = false;
  ForceOption force_;
  bool json_ = false;
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plot_command() { return std::make_unique<PlotCommand>(); }

}  // namespace hesscope::cli
