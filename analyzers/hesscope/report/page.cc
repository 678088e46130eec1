// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <bit>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/ascii.h>
#include <hesscope/core/encoding.h>
#include <hesscope/core/error.h>
#include <hesscope/core/json.h>
#include <hesscope/core/version.h>
#include <hesscope/plot/figure_json.h>
#include <hesscope/report/internal/assets.h>
#include <hesscope/report/internal/html.h>
#include <hesscope/report/page.h>
#include <hesscope/storage/sha256.h>

namespace hesscope::report {
namespace {

std::string anchor_of(const std::string& definition) { return "definition-" + definition; }

class Checker {
 public:
  void check(const Page& page) {
    for (const Section& section : page.sections) {
      add(section.id);
      for (const Picture& picture : section.pictures) check(picture);
      for (const Table& table : section.tables) check(table);
    }
  }

 private:
  void add(const std::string& id) {
    const bool is_good = !id.empty() && std::ranges::all_of(id, [](char c) {
      return is_letter_or_digit(c) || c == '-';
    });
    if (!is_good) {
      throw PreconditionError(
          fmt::format("to_html: '{}' is no id: it must be letters, digits and hyphens", id));
    }
    if (!ids_.insert(id).second) {
      throw PreconditionError(fmt::format("to_html: the id '{}' is there twice", id));
    }
  }

  void check(const Picture& picture) {
    add(picture.id);
    const bool is_whole =
        !picture.views.empty() &&
        std::ranges::none_of(picture.views, [](const View& view) { return view.frames.empty(); });
    if (!is_whole) {
      throw PreconditionError(
          fmt::format("to_html: the picture '{}' has nothing to show", picture.id));
    }
  }

  void check(const Table& table) {
    add(table.id);
    for (const std::vector<Cell>& row : table.rows) {
      if (row.size() == table.columns.size()) continue;
      throw PreconditionError(fmt::format("to_html: table '{}': a row has {} cells, not {}",
                                          table.id,
                                          row.size(),
                                          table.columns.size()));
    }
  }

  std::set<std::string> ids_;
};

// "'sha256-...'" for hexadecimal digits, as a policy names what it allows.
std::string allowed(std::string_view hexadecimal) {
  std::array<std::byte, 32> digest{};
  const auto digit = [](char c) {
    return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
  };
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] =
        static_cast<std::byte>(digit(hexadecimal[2 * i]) * 16 + digit(hexadecimal[2 * i + 1]));
  }
  return fmt::format("'sha256-{}'", base64(digest));
}

std::string packed(std::span<const std::byte> bytes) { return base64(gzipped(bytes)); }

// The first bytes of all numbers, then the second bytes, and so on: similar bytes are together,
// which compresses better.
std::vector<std::byte> by_significance(std::span<const double> numbers) {
  const std::span<const std::byte> bytes = std::as_bytes(numbers);
  std::vector<std::byte> sorted(bytes.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t k = 0; k < sizeof(double); ++k) {
      sorted[k * numbers.size() + i] = bytes[i * sizeof(double) + k];
    }
  }
  return sorted;
}

Json json_of(const std::vector<Section>& sections, plot::NumberPool& pool) {
  Json pictures = Json::object();
  for (const Section& section : sections) {
    for (const Picture& picture : section.pictures) {
      Json views = Json::list();
      for (const View& view : picture.views) {
        Json frames = Json::list();
        for (const Frame& frame : view.frames) {
          frames.push_back({{"label", frame.label}, {"figure", plot::to_json(frame.figure, pool)}});
        }
        views.push_back({{"name", view.name}, {"frames", frames}});
      }
      pictures[picture.id] = {{"views", views}};
    }
  }
  return pictures;
}

class Writer {
 public:
  explicit Writer(const Page& page) : page_(page) {
    for (const Definition& definition : page.definitions) known_.insert(definition.id);
  }

  std::string run() && {
    html_.trusted(kFirstLines);
    html_.trusted("<html lang=\"en\">\n");
    write_head();
    html_.trusted("<body>\n<a class=\"skip\" href=\"#content\">To the content</a>\n");
    write_top();
    html_.trusted("<main id=\"content\">\n");
    for (const Section& section : page_.sections) write(section);
    if (!page_.definitions.empty()) write_definitions();
    html_.trusted("</main>\n");
    write_footer();
    html_.trusted(
        "<dialog id=\"definition\" aria-label=\"Definition\"><div></div>"
        "<p><button type=\"button\">Close</button></p></dialog>\n"
        "<div id=\"said\" role=\"status\" aria-live=\"polite\"></div>\n");
    write_scripts();
    html_.trusted("</body>\n</html>\n");
    return std::move(html_).take();
  }

 private:
  void write_head() {
    const std::string policy = fmt::format(
        "default-src 'none'; script-src {} {} {}; style-src 'unsafe-inline'; img-src data: blob:; "
        "connect-src 'none'; base-uri 'none'; form-action 'none'",
        allowed(io::sha256_of_text(scripts())),
        allowed(plotly_flat().digest),
        allowed(plotly_raised().digest));
    html_.trusted("<head>\n<meta charset=\"utf-8\">\n");
    html_.single("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy}});
    html_.trusted("\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html_.single("meta",
                 {{"name", "generator"}, {"content", fmt::format("hesscope {}", kVersion)}});
    html_.line();
    html_.element("title", page_.title);
    html_.trusted("\n<style>\n");
    html_.trusted(style_sheet());
    html_.trusted("</style>\n</head>\n");
  }

  void write_top() {
    html_.trusted("<header>\n<div class=\"top\">");
    html_.open("h1");
    html_.marked_up(page_.title);
    html_.close();
    html_.trusted(
        "<button type=\"button\" id=\"theme\" aria-pressed=\"false\">Dark</button></div>\n");
    if (!page_.subtitle.empty()) html_.element("p", page_.subtitle);
    html_.trusted("\n</header>\n<nav aria-label=\"Sections\"><ul>");
    const auto item = [this](const std::string& id, const std::string& title) {
      html_.open("li");
      html_.element("a", title, {{"href", "#" + id}});
      html_.close();
    };
    for (const Section& section : page_.sections) item(section.id, section.title);
    if (!page_.definitions.empty()) item("definitions", "Definitions");
    html_.trusted(
        "</ul></nav>\n<noscript><p class=\"warning\">Figures need JavaScript; "
        "<code>hesscope plot</code> draws them as files.</p></noscript>\n");
  }

  void write(const Section& section) {
    html_.open("section", {{"aria-labelledby", section.id}});
    html_.element("h2", section.title, {{"id", section.id}});
    html_.line();
    if (!section.text.empty()) html_.element("p", section.text);
    for (const std::string& warning : section.warnings) write_warning(warning);
    if (!section.cards.empty()) {
      html_.open("div", {{"class", "sources"}});
      for (const Card& card : section.cards) write(card);
      html_.close();
    }
    for (const Picture& picture : section.pictures) write(picture);
    for (const Table& table : section.tables) write(table);
    html_.close();
    html_.line();
  }

  void write_warning(const std::string& warning) {
    html_.element("p", "Warning: " + warning, {{"class", "warning"}});
    html_.line();
  }

  void write(const Card& card) {
    html_.open("article", {{"class", "source"}});
    html_.element("h3", card.title);
    html_.open("dl", {{"class", "facts"}});
    for (const Fact& fact : card.facts) {
      html_.element("dt", fact.name);
      html_.element("dd", fact.value);
    }
    html_.close();
    for (const std::string& warning : card.warnings) write_warning(warning);
    html_.close();
    html_.line();
  }

  void write(const Picture& picture) {
    html_.open("figure",
               {{"class", "picture"}, {"id", picture.id}, {"data-slider", picture.slider}});
    html_.open("figcaption");
    html_.open("h3");
    html_.marked_up(picture.title);
    html_.close();
    html_.open("p");
    html_.text(picture.text);
    const char* separator = picture.text.empty() ? "Shows " : " Shows ";
    for (const std::string& definition : picture.definitions) {
      if (!known_.contains(definition)) continue;
      html_.text(separator);
      write_link(definition, definition);
      separator = ", ";
    }
    html_.close();
    html_.close();
    html_.trusted(
        "<div class=\"controls\"></div><div class=\"panels\"></div>"
        "<details class=\"numbers\"><summary>Numbers</summary><div></div></details>");
    html_.close();
    html_.line();
  }

  void write_link(const std::string& definition, std::string_view text) {
    html_.element("a",
                  text,
                  {{"class", "definition"},
                   {"href", "#" + anchor_of(definition)},
                   {"aria-label", "Definition of " + definition}});
  }

  void write(const Table& table) {
    html_.open("div", {{"class", "tables-head"}});
    html_.element("h3", table.title);
    html_.element(
        "button", "Copy", {{"type", "button"}, {"class", "copy"}, {"data-table", table.id}});
    html_.close();
    if (!table.text.empty()) html_.element("p", table.text);
    html_.open(
        "div",
        {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", table.title}});
    html_.open("table", {{"id", table.id}, {"class", "sortable"}});
    html_.open("thead");
    html_.open("tr");
    const std::vector<bool> is_words = columns_of_words(table);
    for (std::size_t k = 0; k < table.columns.size(); ++k) {
      const Column& column = table.columns[k];
      Html::Attributes attributes = {{"scope", "col"}};
      if (is_words[k]) attributes.emplace_back("class", "words");
      html_.open("th", attributes);
      html_.element("button", column.title, {{"type", "button"}, {"class", "sort"}});
      if (known_.contains(column.definition)) write_link(column.definition, "?");
      html_.close();
    }
    html_.close();
    html_.close();
    html_.open("tbody");
    for (const std::vector<Cell>& row : table.rows) {
      html_.open("tr");
      for (std::size_t k = 0; k < row.size(); ++k) write(row[k], is_words[k]);
      html_.close();
      html_.line();
    }
    html_.close();
    html_.close();
    html_.close();
    html_.line();
  }

  static std::vector<bool> columns_of_words(const Table& table) {
    std::vector<bool> is_words(table.columns.size(), true);
    for (const std::vector<Cell>& row : table.rows) {
      for (std::size_t k = 0; k < row.size(); ++k) is_words[k] = is_words[k] && !is_number(row[k]);
    }
    return is_words;
  }

  static bool is_number(const Cell& cell) {
    return cell.kind == Cell::Kind::kNumber || cell.kind == Cell::Kind::kUnproved;
  }

  void write(const Cell& cell, bool is_among_words) {
    std::string classes = is_among_words ? "words" : "";
    const auto add = [&classes](const char* name) {
      classes += (classes.empty() ? "" : " ") + std::string(name);
    };
    if (cell.kind == Cell::Kind::kMissing) add("missing");
    if (cell.kind == Cell::Kind::kUnproved) add("unproved");
    Html::Attributes attributes;
    if (!classes.empty()) attributes.emplace_back("class", classes);
    if (is_number(cell)) attributes.emplace_back("data-value", fmt::format("{}", cell.value));
    html_.element("td", cell.text, attributes);
  }

  void write_definitions() {
    html_.trusted(
        "<section aria-labelledby=\"definitions\"><h2 id=\"definitions\">Definitions</h2>\n"
        "<dl class=\"definitions\">\n");
    for (const Definition& definition : page_.definitions) {
      html_.open("div", {{"id", anchor_of(definition.id)}});
      html_.element("dt", definition.name);
      html_.open("dd");
      html_.text(definition.long_name);
      if (!definition.text.empty()) html_.text(": " + definition.text);
      if (!definition.references.empty()) {
        html_.single("br", {});
        html_.element("cite", definition.references);
      }
      html_.close();
      html_.close();
      html_.line();
    }
    html_.trusted("</dl></section>\n");
  }

  void write_footer() {
    html_.open("footer");
    html_.element(
        "p",
        fmt::format("Written by hesscope {}. Figures are drawn by plotly.js, \u00a9 Plotly, "
                    "Inc., MIT license, which is inside of this file.",
                    kVersion));
    html_.close();
    html_.line();
  }

  void write_scripts() {
    static_assert(std::endian::native == std::endian::little);
    plot::NumberPool pool;
    const std::string json = json_of(page_.sections, pool).compact();
    const auto write = [this](const char* id, const std::string& text) {
      html_.open("script", {{"type", "application/gzip"}, {"id", id}});
      html_.trusted(text);
      html_.close();
      html_.line();
    };
    write("figures", packed(std::as_bytes(std::span(json))));
    write("numbers", packed(by_significance(pool.numbers())));
    write("plotly-flat", base64(plotly_flat().archive));
    write("plotly-raised", base64(plotly_raised().archive));
    html_.trusted("<script>");
    html_.trusted(scripts());
    html_.trusted("</script>\n");
  }

  const Page& page_;
  Html html_;
  std::set<std::string> known_;
};

}  // namespace

Picture still(std::string id, std::string title, plot::Figure figure) {
  Picture picture{.id = std::move(id), .title = std::move(title)};
  picture.views.push_back({.name = {}, .frames = {{.label = {}, .figure = std::move(figure)}}});
  return picture;
}

std::string to_html(const Page& page) {
  Checker().check(page);
  return Writer(page).run();
}

}  // namespace hesscope::report
