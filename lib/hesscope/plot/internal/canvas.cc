// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/printable.h>
#include <hesscope/plot/internal/canvas.h>
#include <hesscope/plot/internal/text.h>
#include <hesscope/plot/markup.h>

namespace hesscope::plot {
namespace {

constexpr double kRaise = 0.36;  // of the font size
constexpr double kLower = 0.2;

std::string path_data(const std::vector<Polyline>& parts, bool closed) {
  std::string data;
  for (const Polyline& part : parts) {
    if (part.empty()) continue;
    char command = 'M';
    for (const Point& p : part) {
      data += fmt::format("{}{},{}", command, coordinate(p.x), coordinate(p.y));
      command = 'L';
    }
    if (closed) data += 'Z';
  }
  return data;
}

std::string dashes(const Stroke& stroke) {
  switch (stroke.dash) {
    case Dash::kDashed:
      return R"( stroke-dasharray="4,2.5")";
    case Dash::kDotted:
      return R"( stroke-dasharray="0.1,2.5" stroke-linecap="round")";
    case Dash::kSolid:
      break;
  }
  return {};
}

std::string fill_attributes(Colour fill, double opacity) {
  std::string text = fmt::format(R"( fill="{}")", hex(fill));
  if (opacity < 1) text += fmt::format(R"( fill-opacity="{}")", coordinate(opacity));
  return text;
}

constexpr double kSpace = 0.278;  // width of a space in Helvetica, relative to the size

// Runs as tspans; after a script the next run returns to the baseline.
std::string spans(std::string_view text, double size) {
  std::string content;
  double shift = 0;  // of the baseline so far, downwards
  for (const TextRun& run : parse_markup(text)) {
    const bool is_script = run.level != TextRun::Level::kNormal;
    const double wanted = run.level == TextRun::Level::kRaised    ? -kRaise * size
                          : run.level == TextRun::Level::kLowered ? kLower * size
                                                                  : 0;
    if (!is_script && shift == 0) {
      content += xml_text(run.text);
      continue;
    }
    content += fmt::format(R"(<tspan dy="{}")", coordinate(wanted - shift));
    // Some programs drop a space at the beginning of an element.
    const bool has_space = run.text.starts_with(' ');
    if (has_space) content += fmt::format(R"( dx="{}")", coordinate(kSpace * size));
    if (is_script) content += fmt::format(R"( font-size="{}")", coordinate(kScriptSize * size));
    content += fmt::format(">{}</tspan>", xml_text(run.text.substr(has_space ? 1 : 0)));
    shift = wanted;
  }
  return content;
}

}  // namespace

std::string coordinate(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string exact_number(double value) { return fmt::format("{}", value); }

Canvas::Canvas(double width, double height, double magnification)
    : width_(width), height_(height), magnification_(magnification) {}

void Canvas::open(const std::vector<std::pair<std::string, std::string>>& attributes) {
  body_ += "<g";
  for (const auto& [name, value] : attributes) {
    body_ += fmt::format(R"( {}="{}")", name, xml_text(value));
  }
  body_ += ">\n";
}

void Canvas::close() { body_ += "</g>\n"; }

void Canvas::lines(const std::vector<Polyline>& parts, const Stroke& stroke) {
  const std::string data = path_data(parts, false);
  if (data.empty()) return;
  body_ += fmt::format(
      R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}" stroke-linejoin="round"{}/>)"
      "\n",
      data,
      hex(stroke.colour),
      coordinate(stroke.width),
      dashes(stroke));
}

void Canvas::area(const std::vector<Polyline>& parts, Colour fill, double opacity) {
  const std::string data = path_data(parts, true);
  if (data.empty()) return;
  body_ += fmt::format(R"(<path d="{}" fill-rule="evenodd"{}/>)"
                       "\n",
                       data,
                       fill_attributes(fill, opacity));
}

void Canvas::rectangle(const Box& box, Colour fill, double opacity, bool seamless) {
  body_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}"{}{}/>)"
                       "\n",
                       coordinate(box.left),
                       coordinate(box.top),
                       coordinate(box.width),
                       coordinate(box.height),
                       fill_attributes(fill, opacity),
                       seamless ? R"( shape-rendering="crispEdges")" : "");
}

void Canvas::circle(const Point& centre, double radius, Colour fill, double opacity, bool rim) {
  body_ += fmt::format(R"(<circle cx="{}" cy="{}" r="{}"{}{}/>)"
                       "\n",
                       coordinate(centre.x),
                       coordinate(centre.y),
                       coordinate(radius),
                       fill_attributes(fill, opacity),
                       rim ? R"( stroke="#ffffff" stroke-width="0.5")" : "");
}

void Canvas::text(const Point& at, std::string_view text, const TextStyle& style) {
  if (text.empty()) return;
  std::string attributes = fmt::format(R"(x="{}" y="{}" font-size="{}" fill="{}")",
                                       coordinate(at.x),
                                       coordinate(at.y),
                                       coordinate(style.size),
                                       hex(style.colour));
  if (style.anchor == Anchor::kMiddle) attributes += R"( text-anchor="middle")";
  if (style.anchor == Anchor::kEnd) attributes += R"( text-anchor="end")";
  if (style.bold) attributes += R"( font-weight="bold")";
  if (style.upwards) {
    attributes +=
        fmt::format(R"~( transform="rotate(-90 {} {})")~", coordinate(at.x), coordinate(at.y));
  }
  const std::string content = spans(text, style.size);
  if (style.halo) {
    // Drawn twice instead of using paint-order, which some programs do not support.
    body_ += fmt::format(
        R"(<text {} stroke="{}" stroke-width="2" stroke-linejoin="round" aria-hidden="true">{}</text>)"
        "\n",
        attributes,
        hex(*style.halo),
        content);
  }
  body_ += fmt::format("<text {}>{}</text>\n", attributes, content);
}

std::string Canvas::finish(const std::string& title, const std::string& description) && {
  std::string head = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{}pt" height="{}pt" viewBox="0 0 {} {}" role="img" font-family="Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif">)"
      "\n",
      coordinate(width_ * magnification_),
      coordinate(height_ * magnification_),
      coordinate(width_),
      coordinate(height_));
  if (!title.empty()) {
    head += fmt::format("<title>{}</title>\n", xml_text(without_markup(title)));
  }
  if (!description.empty()) {
    head += fmt::format("<desc>{}</desc>\n", xml_text(without_markup(description)));
  }
  return R"(<?xml version="1.0" encoding="UTF-8"?>)"
         "\n" +
         head + std::move(body_) + "</svg>\n";
}

}  // namespace hesscope::plot
