// SPDX-License-Identifier: BSD-3-Clause
#include <string>

#include <gtest/gtest.h>

#include <hesscope/core/error.h>
#include <hesscope/report/internal/assets.h>
#include <hesscope/report/internal/html.h>
#include <hesscope/report/page.h>

namespace hesscope::report {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

plot::Figure figure() {
  plot::Panel panel;
  panel.series.push_back(plot::Line{.x = {0, 1}, .y = {1, 2}, .label = "</script><b>"});
  return {.description = "A line", .panels = {panel}};
}

Page page_with(Section section) {
  Page page{.title = "A & B"};
  page.sections.push_back(std::move(section));
  return page;
}

TEST(Html, EscapesAllButItsOwn) {
  Html html;
  html.open("p", {{"title", "\"><script>"}});
  html.text("<b> & 'c'");
  html.marked_up("\u03bb_{max}<i>");
  html.close();
  EXPECT_EQ(std::move(html).take(),
            "<p title=\"&quot;&gt;&lt;script&gt;\">&lt;b&gt; &amp; 'c'"
            "\u03bb<sub>max</sub>&lt;i&gt;</p>");
}

TEST(Html, RefusesToEndHalfway) {
  Html html;
  EXPECT_THROW(html.close(), PreconditionError);
  html.open("p");
  EXPECT_THROW(std::move(html).take(), PreconditionError);
}

TEST(Page, TextCannotBecomeAnythingElse) {
  Section section{.id = "s", .title = "</h2><script>"};
  section.pictures.push_back(still("line", "</figure><script>", figure()));
  const std::string html = to_html(page_with(section));
  EXPECT_FALSE(contains(html, "</h2><script>"));
  EXPECT_FALSE(contains(html, "</figure><script>"));
  EXPECT_FALSE(contains(html, "</script><b>"));
  EXPECT_TRUE(html.starts_with(kFirstLines));
}

TEST(Page, RefusesIdsThatAreNone) {
  for (const char* id : {"", "a b", "a\"", "\u00e4"}) {
    EXPECT_THROW(to_html(page_with({.id = id, .title = "S"})), PreconditionError) << id;
  }
  Section section{.id = "twice", .title = "S"};
  section.pictures.push_back(still("twice", "A line", figure()));
  EXPECT_THROW(to_html(page_with(section)), PreconditionError);
}

TEST(Page, RefusesPicturesAndRowsThatAreNotWhole) {
  Section empty{.id = "s", .title = "S"};
  empty.pictures.push_back({.id = "p", .title = "P"});
  EXPECT_THROW(to_html(page_with(empty)), PreconditionError);
  Section ragged{.id = "s", .title = "S"};
  ragged.tables.push_back({.id = "t", .title = "T", .columns = {{.title = "a"}}, .rows = {{}}});
  EXPECT_THROW(to_html(page_with(ragged)), PreconditionError);
}

TEST(Page, MissingAndUnprovedNumbersAreMarked) {
  Section section{.id = "s", .title = "S"};
  section.tables.push_back({.id = "t", .title = "T", .columns = {{.title = "a"}, {.title = "b"}}});
  section.tables[0].rows = {{{.text = "1.5", .kind = Cell::Kind::kNumber, .value = 1.5},
                             {.text = "failed", .kind = Cell::Kind::kMissing}},
                            {{.text = "2", .kind = Cell::Kind::kUnproved, .value = 2},
                             {.text = "failed", .kind = Cell::Kind::kMissing}}};
  const std::string html = to_html(page_with(section));
  EXPECT_TRUE(contains(html, "<td data-value=\"1.5\">1.5</td>"));
  EXPECT_TRUE(contains(html, "<td class=\"words missing\">failed</td>"));
  EXPECT_TRUE(contains(html, "<td class=\"unproved\" data-value=\"2\">2</td>"));
}

TEST(Assets, AreWhatTheyWere) {
  EXPECT_TRUE(contains(std::string(scripts()), "const figures ="));
  EXPECT_TRUE(contains(std::string(style_sheet()), ":root"));
  for (const Bundle& bundle : {plotly_flat(), plotly_raised()}) {
    ASSERT_GT(bundle.archive.size(), 100'000U);
    EXPECT_EQ(bundle.archive[0], std::byte{0x1f});  // gzip
    EXPECT_EQ(bundle.archive[1], std::byte{0x8b});
    EXPECT_EQ(bundle.digest.find(' '), 64U);
  }
}

}  // namespace
}  // namespace hesscope::report
