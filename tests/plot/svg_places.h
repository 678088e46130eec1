// SPDX-License-Identifier: BSD-3-Clause
//
// What tests read in drawings.
#pragma once

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hesscope::plot {

// All x and y of the elements of a document: of shapes, texts and the points of paths.
struct Places {
  std::vector<double> x;
  std::vector<double> y;
};

// The attribute of an element; NaN if it has none of this name.
inline double number_of(const std::string& element, const std::string& name) {
  const std::size_t at = element.find(" " + name + "=\"");
  return at == std::string::npos ? std::nan("")
                                 : std::strtod(&element[at + name.size() + 3], nullptr);
}

inline Places places_in(const std::string& svg) {
  Places found;
  const auto add = [](std::vector<double>& places, double place) {
    if (!std::isnan(place)) places.push_back(place);
  };
  for (std::size_t start = svg.find('<'); start != std::string::npos;
       start = svg.find('<', start)) {
    const std::size_t end = svg.find('>', start);
    const std::string element = svg.substr(start, end - start);
    start = end;
    for (const char* name : {"x", "cx"}) add(found.x, number_of(element, name));
    for (const char* name : {"y", "cy"}) add(found.y, number_of(element, name));
    if (element.starts_with("<rect")) {
      add(found.x, number_of(element, "x") + number_of(element, "width"));
      add(found.y, number_of(element, "y") + number_of(element, "height"));
    }
    const std::size_t data = element.find(" d=\"");
    if (data == std::string::npos) continue;
    const char* at = &element[data + 4];
    while (*at == 'M' || *at == 'L' || *at == 'Z') {
      if (*at++ == 'Z') continue;
      char* after = nullptr;
      found.x.push_back(std::strtod(at, &after));
      found.y.push_back(std::strtod(after + 1, &after));
      at = after;
    }
    EXPECT_EQ(*at, '"') << element;  // nothing else in a path
  }
  return found;
}

// No NaN, nothing infinite, nothing outside of the canvas.
inline void expect_within(const std::string& svg, double width, double height) {
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("nan")));
  EXPECT_THAT(svg, testing::Not(testing::HasSubstr("inf")));
  const Places places = places_in(svg);
  EXPECT_GT(places.x.size(), 4U);
  for (const double x : places.x) ASSERT_TRUE(x >= 0 && x <= width + 0.01) << x;
  for (const double y : places.y) ASSERT_TRUE(y >= 0 && y <= height + 0.01) << y;
}

// The attribute of the panels of a document, in their order.
inline std::vector<double> of_panels(const std::string& svg, const std::string& name) {
  std::vector<double> found;
  const std::string start = R"(<g class="panel")";
  for (std::size_t at = svg.find(start); at != std::string::npos; at = svg.find(start, at + 1)) {
    found.push_back(number_of(svg.substr(at, svg.find('>', at) - at), name));
  }
  return found;
}

}  // namespace hesscope::plot
