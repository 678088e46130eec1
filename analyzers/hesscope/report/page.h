// SPDX-License-Identifier: BSD-3-Clause
//
// A page as a plain description: texts, figures, tables and definitions. to_html() writes it as one
// self-contained file.
//
//   report::Section section{.id = "training", .title = "Training"};
//   section.pictures.push_back(report::still("loss", "Loss", figure));
//   std::string html = report::to_html({.title = "My run", .sections = {section}});
//
// Any text is allowed: it is escaped. Titles may contain ^{...} and _{...}, as in figures.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hesscope/core/constants.h>
#include <hesscope/plot/figure.h>

namespace hesscope::report {

/// One position of a picture's slider.
struct Frame {
  std::string label;
  plot::Figure figure;
};

/// One of several ways to look at a picture.
struct View {
  std::string name;
  std::vector<Frame> frames = {};  ///< at least one; several have a slider
};

struct Picture {
  std::string id;  ///< letters, digits and hyphens; unique on the page
  std::string title;
  std::string text = {};
  std::string slider = {};       ///< what the slider chooses: "checkpoint"; "" = no slider
  std::vector<View> views = {};  ///< at least one
  std::vector<std::string> definitions = {};  ///< ids of the quantities that it shows
};

/// A picture without a slider.
Picture still(std::string id, std::string title, plot::Figure figure);

struct Cell {
  enum class Kind : std::uint8_t {
    kWords,
    kNumber,
    kMissing,   ///< `text` says why
    kUnproved,  ///< a number that lacks the proof that it should have
  };

  std::string text;
  Kind kind = Kind::kWords;
  double value = kNaN;  ///< of a number: exact
};

struct Column {
  std::string title;
  std::string definition = {};  ///< id; "" = none
};

struct Table {
  std::string id;  ///< as in a picture
  std::string title;
  std::string text = {};
  std::vector<Column> columns = {};
  std::vector<std::vector<Cell>> rows = {};
};

struct Fact {
  std::string name;
  std::string value;
};

/// A box of facts, such as the origin of a result.
struct Card {
  std::string title;
  std::vector<Fact> facts = {};
  std::vector<std::string> warnings = {};
};

struct Section {
  std::string id;
  std::string title;
  std::string text = {};
  std::vector<std::string> warnings = {};
  std::vector<Card> cards = {};
  std::vector<Picture> pictures = {};
  std::vector<Table> tables = {};
};

/// What a quantity means.
struct Definition {
  std::string id;
  std::string name;
  std::string long_name = {};
  std::string text = {};
  std::string references = {};  ///< papers
};

struct Page {
  std::string title;
  std::string subtitle = {};
  std::vector<Section> sections = {};
  std::vector<Definition> definitions = {};
};

/// The first lines of every page.
inline constexpr const char* kFirstLines = "<!DOCTYPE html>\n<!-- A report of hesscope -->\n";

/// What the name of a page's file ends in.
inline constexpr std::array<std::string_view, 2> kExtensions = {".html", ".htm"};

/// The page as one HTML document in UTF-8 that loads nothing: style, scripts (including plotly.js)
/// and numbers are inside; a policy in its head allows exactly these scripts. Texts and tables need
/// no script. The same page gives the same bytes.
/// @throws PreconditionError if an id is invalid or not unique, a picture has nothing to show, or
///         the number of cells of a row differs from that of the columns; and as plot::to_json().
/// @cost   linear in the numbers of the figures; 1.4 MB for plotly.js.
std::string to_html(const Page& page);

}  // namespace hesscope::report
