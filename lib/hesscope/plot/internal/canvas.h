// SPDX-License-Identifier: BSD-3-Clause
//
// Elements of an SVG document, in points from its upper left corner. Nothing has an id, so that
// several figures can be put into one page.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hesscope/plot/figure.h>

namespace hesscope::plot {

struct Point {
  double x = 0;
  double y = 0;
};

using Polyline = std::vector<Point>;

struct Box {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;

  double right() const { return left + width; }

  double bottom() const { return top + height; }

  bool contains(const Point& p) const {
    return p.x >= left && p.x <= right() && p.y >= top && p.y <= bottom();
  }
};

struct Stroke {
  Colour colour = kInk;
  double width = 0.6;
  Dash dash = Dash::kSolid;
};

enum class Anchor : std::uint8_t { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 8;
  Anchor anchor = Anchor::kStart;
  Colour colour = kInk;
  bool bold = false;
  bool upwards = false;          ///< turned by 90 degrees, to be read from below
  std::optional<Colour> halo{};  ///< around the letters, to separate them from the background
};

/// A coordinate with at most two decimals, never "-0". Must be finite.
std::string coordinate(double value);

/// A number that reads back exactly, for data- attributes.
std::string exact_number(double value);

class Canvas {
 public:
  /// @param magnification  size of a point of the canvas on paper, in points.
  Canvas(double width, double height, double magnification = 1);

  /// Opens a group with attributes; close() ends it.
  void open(const std::vector<std::pair<std::string, std::string>>& attributes);
  void close();

  /// Several polylines as one path. Points must be finite.
  void lines(const std::vector<Polyline>& parts, const Stroke& stroke);

  /// Several closed polygons as one path, filled by the even-odd rule.
  void area(const std::vector<Polyline>& parts, Colour fill, double opacity = 1);

  /// `seamless`: without antialiasing, so that there is no hairline between neighbours.
  void rectangle(const Box& box, Colour fill, double opacity = 1, bool seamless = false);
  void circle(
      const Point& centre, double radius, Colour fill, double opacity = 1, bool rim = false);
  void text(const Point& at, std::string_view text, const TextStyle& style);

  /// The document.
  std::string finish(const std::string& title, const std::string& description) &&;

 private:
  double width_;
  double height_;
  double magnification_;
  std::string body_;
};

}  // namespace hesscope::plot
