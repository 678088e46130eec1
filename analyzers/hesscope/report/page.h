// SPDX-License-Identifier: BSD-3-Clause
//
// A page as a plain description: texts, figures, tables and definitions. to_html() writes it as one
// file that needs nothing else.
//
//   report::Section section{.id = "training", .title = "Training"};
//   section.pictures.push_back(report::still("loss", "Loss", figure));
//   std::string html = report::to_html({.title = "My run", .sections = {section}});
//
// Text may be anything: it is escaped. Text of titles may hold ^{...} and _{...} as in figures.
#pragma once

#include <cstdint>
#include <string>
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
  std::vector<Frame> frames = {};  ///< at least one; several are leafed through
};

struct Picture {
  std::string id;  ///< letters, digits and hyphens; of its own on the page
  std::string title;
  std::string text = {};
  std::string slider = {};       ///< what it leafs through: "checkpoint"; "" = it does not
  std::vector<View> views = {};  ///< at least one
  std::vector<std::string> definitions = {};  ///< ids of what it shows
};

/// A picture that stands still.
Picture still(std::string id, std::string title, plot::Figure figure);

struct Cell {
  enum class Kind : std::uint8_t {
    kWords,
    kNumber,
    kMissing,   ///< `text` says why
    kUnproved,  ///< a number without the proof that it should have
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
  std::string id;  ///< as of a picture
  std::string title;
  std::string text = {};
  std::vector<Column> columns = {};
  std::vector<std::vector<Cell>> rows = {};
};

struct Fact {
  std::string name;
  std::string value;
};

/// A box of facts: where a result is from.
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

/// What every page begins with.
inline constexpr const char* kFirstLines = "<!DOCTYPE html>\n<!-- A report of hesscope -->\n";

/// The page as one HTML document of UTF-8 that fetches nothing: style, scripts (plotly.js among
/// them) and numbers are inside; a policy in its head allows these scripts and no others. Texts and
/// tables need no script. The same page gives the same bytes.
/// @throws PreconditionError if an id is not as it should be or there twice, a picture has nothing
///         to show, a row has not as many cells as there are columns, or as plot::to_json().
/// @cost   linear in the numbers of the figures; 1.4 MB for plotly.js.
std::string to_html(const Page& page);

}  // namespace hesscope::report
